"""Makes pictures that lie, and strange ones that do not, with Pillow: hostile_pictures.py DIR"""
import os
import struct
import sys
import zlib

from PIL import Image, ImageSequence

folder = sys.argv[1]


def save(name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def png(width, height, data, depth=8, kind=2):
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def black(width, height):
    packer = zlib.compressobj(9)
    row = bytes(1 + width * 3)
    return b"".join(packer.compress(row) for _ in range(height)) + packer.flush()


base = Image.effect_noise((400, 300), 80).convert("RGB")
# Good ones, of kinds that few programs meet.
base.convert("CMYK").save(f"{folder}/good-cmyk.jpg")
Image.frombytes("I;16", (64, 64), bytes(range(256)) * 32).save(f"{folder}/good-16-bit.png")
base.save(f"{folder}/good-progressive.jpg", progressive=True)
base.convert("1").save(f"{folder}/good-bits.tiff", compression="group4")
base.convert("P").save(f"{folder}/good-palette.png")
frames = [Image.new("RGB", (80, 60), (i * 2, 0, 0)) for i in range(100)]
frames[0].save(f"{folder}/good-moving.gif", save_all=True, append_images=frames[1:], duration=20)
frames[0].save(f"{folder}/good-moving.webp", save_all=True, append_images=frames[1:], duration=20)
save("good-black.png", png(5000, 4000, black(5000, 4000)))
# Large enough to be decoded as its rows are used.
save("bad-black-half.png", png(5000, 4000, black(5000, 4000)[:30_000]))
# No pictures.
save("bad-empty.jpg", b"")
save("bad-text.jpg", b"just text, whatever the name says\n" * 10)
save("bad-zeros.png", bytes(100_000))
save("bad-script.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><image href='/etc/passwd'/></svg>")
save("bad-magick.mvg", b"push graphic-context\nimage over 0,0 0,0 'https://127.0.0.1/x'\n")
# Claims.
save("bad-sixty.png", png(60000, 60000, b"x"))
save("bad-bomb.png", png(16000, 16000, black(16000, 16000)))
save("bad-tall.png", png(1, 0x7FFFFFFF, b"x"))
save("bad-unfilled.png", png(5000, 5000, zlib.compress(bytes(100))))
save("bad-gif.gif", b"GIF89a" + struct.pack("<HH", 65535, 65535) + b"\x80\0\0\0\0\0\xff\xff\xff,"
     + struct.pack("<HHHH", 0, 0, 65535, 65535) + b"\0\2\2D\1\0;")
tiff = struct.pack("<2sHIH", b"II", 42, 8, 8)
for tag, kind, value in [(256, 4, 0x7FFFFFFF), (257, 4, 0x7FFFFFFF), (258, 3, 8), (259, 3, 1), (262, 3, 1),
                         (273, 4, 8), (277, 3, 1), (279, 4, 0x7FFFFFFF)]:
    tiff += struct.pack("<HHII", tag, kind, 1, value)
save("bad-claim.tiff", tiff + bytes(4))
save("bad-loop.tiff", tiff + struct.pack("<I", 8))
save("bad-webp.webp", b"RIFF" + struct.pack("<I", 30) + b"WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + b"\xff" * 6
     + bytes(12))
# Each format, cut short.
for name in ("jpg", "png", "webp", "gif", "tiff"):
    base.save(f"{folder}/whole.{name}")
    with open(f"{folder}/whole.{name}", "rb") as file:
        data = file.read()
    os.remove(f"{folder}/whole.{name}")
    save(f"bad-half.{name}", data[: len(data) // 2])
    save(f"bad-start.{name}", data[:40])
