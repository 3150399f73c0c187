"""Makes pictures of every format that is read, and judges what became of them, with Pillow.

pictures.py make DIR     the pictures: quadrants of red, green, blue and yellow, 64 by 48 when upright
pictures.py judge DIR    every file must be a JPEG of that, upright, in sRGB, without metadata
"""
import os
import subprocess
import sys

from PIL import Image, TiffImagePlugin

SIZE = (64, 48)
CORNERS = {(8, 8): (255, 0, 0), (56, 8): (0, 255, 0), (8, 40): (0, 0, 255), (56, 40): (255, 255, 0)}
# What turns an upright picture into the pixels that a camera writes with this orientation.
CAMERA = {
    1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


def upright():
    image = Image.new("RGB", SIZE)
    for (x, y), color in CORNERS.items():
        image.paste(color, (x // 32 * 32, y // 24 * 24, x // 32 * 32 + 32, y // 24 * 24 + 24))
    return image


def make(folder):
    base = upright()
    for orientation, turn in CAMERA.items():
        image = base.transpose(turn) if turn is not None else base
        exif = Image.Exif()
        exif[0x0112] = orientation
        exif[0x010F] = "Brownie (Kodak)"
        exif[0x8825] = {1: "N", 2: (52.0, 30.0, 36.0), 3: "W", 4: (13.0, 15.0, 0.0)}
        exif[0x8769] = {0x829D: TiffImagePlugin.IFDRational(28, 10), 0x8827: 400}
        image.save(f"{folder}/turned-{orientation}.jpg", quality=95, subsampling=0, exif=exif)
        tiff = TiffImagePlugin.ImageFileDirectory_v2()
        tiff[274] = orientation
        image.save(f"{folder}/turned-{orientation}.tiff", tiffinfo=tiff)
        image.save(f"{folder}/turned-{orientation}.webp", lossless=True, exif=exif)
        image.save(f"{folder}/turned-{orientation}.png", exif=exif)
    base.save(f"{folder}/plain.png")
    base.save(f"{folder}/plain.gif")
    base.save(f"{folder}/moving.gif", save_all=True, append_images=[Image.new("RGB", SIZE)], duration=100)
    base.convert("CMYK").save(f"{folder}/print.jpg", quality=95)
    clear = base.convert("RGBA")
    clear.paste((0, 0, 0, 0), (28, 20, 36, 28))
    clear.save(f"{folder}/clear.png")
    base.save(f"{folder}/heif.png")
    for name, options in [("phone.heic", []), ("web.avif", ["-A"])]:
        try:
            subprocess.run(["heif-enc", "-q", "95", *options, f"{folder}/heif.png", "-o", f"{folder}/{name}"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError):
            if os.path.exists(f"{folder}/{name}"):
                os.remove(f"{folder}/{name}")
    os.remove(f"{folder}/heif.png")


def judge(folder):
    names = sorted(os.listdir(folder))
    for name in names:
        image = Image.open(f"{folder}/{name}")
        image.load()
        complaint = None
        if image.format != "JPEG" or image.mode != "RGB":
            complaint = f"{image.format} {image.mode}"
        elif image.size != SIZE:
            complaint = f"size {image.size}"
        elif len(image.getexif()) > 0:
            complaint = f"EXIF {dict(image.getexif())}"
        for place, color in CORNERS.items():
            found = image.convert("RGB").getpixel(place)
            # Ink is never as bright as light.
            if max(abs(a - b) for a, b in zip(found, color)) > (160 if name == "print.jpg" else 60) and complaint is None:
                complaint = f"{found} at {place}, not {color}"
        if name == "clear.png" and min(image.convert("RGB").getpixel((32, 24))) < 220 and complaint is None:
            complaint = "what was clear is not white"
        if complaint:
            print(f"{name}: {complaint}")
    print(f"{len(names)} judged")


if __name__ == "__main__":
    {"make": make, "judge": judge}[sys.argv[1]](sys.argv[2])
