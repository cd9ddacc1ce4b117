"""The command line as `python -m hyperlvq`."""

from hyperlvq.cli import main

if __name__ == "__main__":
    main()
