"""A way to a server on this machine with a delay and a rate of its own: a TCP port on the loopback.

usage: link.py PORT TARGET_PORT MILLISECONDS_ONE_WAY BYTES_PER_SECOND (0 for no limit)
"""
import asyncio, os, socket, subprocess, sys, time


class Link:
    """The same as a process, for as long as the block lasts."""

    def __init__(self, target, delay, rate=0):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.words = [sys.executable, os.path.abspath(__file__), *map(str, (self.port, target, delay, rate))]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words)
        end = time.time() + 10
        while time.time() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise SystemExit("the link does not listen")

    def restart(self, seconds):
        """Breaks the connections, and takes new ones after a while."""
        self.__exit__()
        time.sleep(seconds)
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def url(self, collection):
        return f"postgres://owner@127.0.0.1:{self.port}/postgres?collection={collection}"


async def carry(reader, writer, delay, rate):
    """Passes bytes on in their order, each piece after the delay, and no faster than the rate."""
    pieces = asyncio.Queue(32)

    async def deliver():
        free = 0
        while True:
            due, piece = await pieces.get()
            if not piece:
                break
            await asyncio.sleep(max(due, free) - time.monotonic())
            writer.write(piece)
            await writer.drain()
            free = max(due, free, time.monotonic() - 0.05) + (len(piece) / rate if rate else 0)

    delivery = asyncio.create_task(deliver())
    try:
        while piece := await reader.read(16384):
            await pieces.put((time.monotonic() + delay, piece))
    except OSError:
        pass
    await pieces.put((0, b""))
    try:
        await delivery
    except OSError:
        pass
    writer.close()


async def serve(port, target, delay, rate):
    async def connected(reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target, limit=65536)
        except OSError:
            writer.close()
            return
        await asyncio.gather(carry(reader, far_writer, delay, rate), carry(far_reader, writer, delay, rate))

    async with await asyncio.start_server(connected, "127.0.0.1", port, limit=65536, reuse_address=True) as server:
        await server.serve_forever()


if __name__ == "__main__":
    port, target, delay, rate = sys.argv[1:]
    asyncio.run(serve(int(port), int(target), float(delay) / 1000, float(rate)))
