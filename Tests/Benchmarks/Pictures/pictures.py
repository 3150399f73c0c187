#!/usr/bin/env python3
"""Pictures against Pillow and vipsthumbnail, in one run: pictures.py CUBBY FOLDER [COUNT]

COUNT (10,000) pictures are the photographs of FOLDER under as many names. Pillow does what Cubby does: upright, in sRGB, JPEG
of quality 50, written to a temporary file, forced to the disk and renamed; thumbnails are decoded no larger than needed,
40 by 40 from the middle, with rounded corners, as PNG.
"""
import io, os, shutil, statistics, subprocess, sys, tempfile, time

from PIL import Image, ImageCms, ImageDraw, ImageOps

cubby, source = sys.argv[1:3]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
here = os.path.dirname(os.path.abspath(__file__))
root = tempfile.mkdtemp(prefix="bench-pictures-", dir=os.environ.get("BENCH_DIR"))
inputs, outputs, small = (os.path.join(root, name) for name in ("in", "out", "small"))
for folder in (inputs, outputs, small):
    os.mkdir(folder)
photographs = sorted(name for name in os.listdir(source) if name.endswith((".jpg", ".png")))
names = []
for i in range(count):
    kind = i % len(photographs)
    names.append(f"{i:05d}" + os.path.splitext(photographs[kind])[1])
    if i == kind:
        shutil.copy(os.path.join(source, photographs[kind]), os.path.join(inputs, names[-1]))
    else:
        os.link(os.path.join(inputs, names[kind]), os.path.join(inputs, names[-1]))

rates = {}


def measure(name, body):
    start = time.perf_counter()
    body()
    rates[name] = count / (time.perf_counter() - start)


standard = ImageCms.createProfile("sRGB")


def set_all():
    folder = os.open(outputs, os.O_RDONLY)
    for name in names:
        image = ImageOps.exif_transpose(Image.open(os.path.join(inputs, name)))
        profile = image.info.get("icc_profile")
        image = image.convert("RGB")
        if profile and b"sRGB" not in profile[:4096] and b"s\0R\0G\0B" not in profile[:4096]:
            image = ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), standard)
        with open(os.path.join(outputs, "new"), "wb") as file:
            image.save(file, "JPEG", quality=50)
            file.flush()
            os.fsync(file.fileno())
        os.rename(os.path.join(outputs, "new"), os.path.join(outputs, name))
        os.fsync(folder)


def read_all():
    for name in names:
        assert Image.open(os.path.join(outputs, name)).width > 0


def decode_all():
    for name in names:
        Image.open(os.path.join(outputs, name)).load()


mask = Image.new("L", (160, 160))
ImageDraw.Draw(mask).rounded_rectangle((0, 0, 159, 159), 20, 255)
mask = mask.resize((40, 40))


def decode_small():
    for name in names:
        image = Image.open(os.path.join(outputs, name))
        image.draft("RGB", (80, 80))
        image.load()


def thumbnail_all():
    for name in names:
        image = Image.open(os.path.join(outputs, name))
        image.draft("RGB", (80, 80))
        image = ImageOps.fit(ImageOps.exif_transpose(image), (40, 40))
        image.putalpha(mask)
        image.save(os.path.join(small, "new"), "PNG")
        os.rename(os.path.join(small, "new"), os.path.join(small, name))


own = subprocess.run(
    [cubby, "--container", os.path.join(root, "container"), "--allow-read", inputs, "run",
     os.path.join(here, "pictures.lua"), inputs], capture_output=True, text=True)
if own.returncode != 0:
    sys.exit(own.stderr)
ours = {name: float(rate) for name, rate in (line.split("\t") for line in own.stdout.splitlines())}
measure("set", set_all)
measure("read cold", read_all)
measure("read and decode", decode_all)
measure("thumbnail", thumbnail_all)
# What any thumbnail costs: the file read, and libjpeg decoding it at a quarter of its size.
measure("floor", decode_small)


def vips_all():
    # In pieces: a command line is of limited length.
    for start in range(0, count, 1000):
        files = [os.path.join(outputs, name) for name in names[start:start + 1000]]
        subprocess.run(["vipsthumbnail", "-s", "40x40", "--smartcrop", "centre", "-o", small + "/v-%s.png", *files], check=True)


vips = None
try:
    measure("vips", vips_all)
    vips = rates["vips"]
except FileNotFoundError:
    print("vipsthumbnail (libvips-tools) is not installed")


def floor():
    program = os.path.join(root, "floor")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "vips"], capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", os.path.join(here, "floor.c"), "-o", program, *flags], check=True)
    out = subprocess.run([program, inputs, outputs], capture_output=True, text=True, check=True).stdout
    return {name: float(rate) for name, rate in (line.split("\t") for line in out.splitlines())}


try:
    floors = floor()
except (FileNotFoundError, subprocess.CalledProcessError) as error:
    floors = {}
    print(f"libvips alone is not measured: {error}")
floors["thumbnails at once"] = floors.get("thumbnail")
rates["thumbnails at once"] = rates["thumbnail"]

print(f"{count} pictures, a second")
for name, rate in ours.items():
    peer = rates.get(name)
    line = f"  {name:18}{rate:12,.0f}"
    if peer:
        line += f"   Pillow {peer:9,.0f}: ratio {rate / peer:7.1f}"
    if floors.get(name):
        line += f"   libvips alone {floors[name]:6,.0f}: ratio {rate / floors[name]:.2f}"
    if name.startswith("thumbnail") and name != "thumbnail again" and vips:
        line += f"   vipsthumbnail {vips:6,.0f}: ratio {rate / vips:.1f}"
    if name == "thumbnail":
        line += f"   libjpeg's decoding alone {rates['floor']:6,.0f}: ratio {rate / rates['floor']:.2f}"
    print(line)


def started(environment=None):
    times = []
    for _ in range(31):
        start = time.perf_counter()
        subprocess.run([cubby, "--container", os.path.join(root, "container"), "-e", "print(1)"], check=True,
                       stdout=subprocess.DEVNULL, env=environment)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


mapped = subprocess.run(
    [cubby, "--container", os.path.join(root, "container"), "--allow-read", "/proc/self", "-e",
     "for line in io.lines('/proc/self/maps') do if line:find('libvips') then print(line) end end"],
    capture_output=True, text=True).stdout
print(f"start without pictures: {started():.1f} ms, libvips {'is' if mapped else 'is not'} loaded")
shutil.rmtree(root)
