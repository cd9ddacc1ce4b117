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
        self.port, self.n_requests = self._listening.getsockname()[1], 0
        return self

    def __exit__(self, *_):
        self._is_over.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join()

    def start(self, *answers, drip=b"", drip_seconds=0.0, tls=None):
        """Return the address; of the answers, each is given once, and then the last.

        After each comes the drip, again and again, if there is one.
        """
        self.answers, self.drip, self.drip_seconds, self.tls = answers, drip, drip_seconds, tls
        self._threads.append(threading.Thread(target=self._serve))
        self._threads[0].start()
        return f"http{'s' if tls else ''}://127.0.0.1:{self.port}/a"

    def _serve(self):
        while not self._is_over.is_set():
            with contextlib.suppress(OSError):
                connection, _ = self._listening.accept()
                if self.tls is not None:
                    connection = self.tls.wrap_socket(connection, server_side=True)
                with connection:
                    self._respond(connection)

    def _respond(self, connection):
        connection.settimeout(5)
        request = b""
        while b"\r\n\r\n" not in request and (received := connection.recv(65536)):
            request += received
        answer = self.answers[min(self.n_requests, len(self.answers) - 1)]
        self.n_requests += 1
        connection.sendall(answer)
        while self.drip and not self._is_over.is_set():
            connection.sendall(self.drip)
            time.sleep(self.drip_seconds)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):  # or closing would reset what is still on its way
            pass
