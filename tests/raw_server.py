"""A server on 127.0.0.1 that answers every request with given bytes, sane or not."""

import contextlib
import socket
import threading
import time


class RawServer:
    """As a context, a server that ends with it."""

    def __enter__(self):
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._is_over = threading.Event()
        self._threads = []
        return self

    def __exit__(self, *_):
        self._is_over.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join()

    def start(self, answer, drip=b"", drip_seconds=0.0):
        """Return the address; after the answer comes the drip, again and again, if there is one."""
        self.answer, self.drip, self.drip_seconds = answer, drip, drip_seconds
        self._threads.append(threading.Thread(target=self._serve))
        self._threads[0].start()
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}/a"

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                with contextlib.suppress(OSError), connection:
                    self._respond(connection)

    def _respond(self, connection):
        connection.settimeout(5)
        request = b""
        while b"\r\n\r\n" not in request and (received := connection.recv(65536)):
            request += received
        connection.sendall(self.answer)
        while self.drip and not self._is_over.is_set():
            connection.sendall(self.drip)
            time.sleep(self.drip_seconds)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):  # or closing would reset what is still on its way
            pass
