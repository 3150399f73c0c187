#!/usr/bin/env python3
"""Draws the pictures of the household inventory: draw-pictures.py [FOLDER].

Python's standard library alone: shapes are filled on a canvas of three times the size, averaged down so that their
edges are smooth, and written as PNG. The same bytes come out on every machine with the same zlib.
"""
import math
import os
import struct
import sys
import zlib

WIDTH, HEIGHT, SCALE = 320, 240, 3

INK = (52, 49, 66)
CREAM = (250, 240, 222)
WOOD = (176, 117, 68)
DARK_WOOD = (128, 80, 46)
RED = (201, 74, 66)
BLUE = (74, 124, 168)
TEAL = (72, 146, 138)
YELLOW = (244, 190, 84)
GREY = (154, 158, 168)
WHITE = (255, 253, 248)


class Canvas:
    def __init__(self, wall, floor):
        self.rows = [bytearray(bytes(wall) * (WIDTH * SCALE)) for _ in range(HEIGHT * SCALE)]
        self.polygon([(0, 190), (320, 190), (320, 240), (0, 240)], floor)

    def span(self, y, left, right, color):
        left, right = max(0, round(left)), min(WIDTH * SCALE, round(right))
        if 0 <= y < HEIGHT * SCALE and right > left:
            self.rows[y][left * 3:right * 3] = bytes(color) * (right - left)

    def polygon(self, points, color):
        points = [(x * SCALE, y * SCALE) for x, y in points]
        edges = list(zip(points, points[1:] + points[:1]))
        for y in range(int(min(p[1] for p in points)), int(max(p[1] for p in points)) + 1):
            middle = y + 0.5
            cuts = sorted(
                a[0] + (middle - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
                for a, b in edges if (a[1] <= middle) != (b[1] <= middle))
            for left, right in zip(cuts[::2], cuts[1::2]):
                self.span(y, left, right, color)

    def box(self, x, y, width, height, color, radius=0):
        corners = []
        for cx, cy, start in ((x + width - radius, y + radius, -90), (x + width - radius, y + height - radius, 0),
                              (x + radius, y + height - radius, 90), (x + radius, y + radius, 180)):
            for step in range(9 if radius else 1):
                angle = math.radians(start + step * 90 / 8)
                corners.append((cx + radius * math.cos(angle), cy + radius * math.sin(angle)))
        self.polygon(corners, color)

    def ellipse(self, cx, cy, rx, ry, color):
        self.polygon([(cx + rx * math.cos(math.tau * i / 96), cy + ry * math.sin(math.tau * i / 96))
                      for i in range(96)], color)

    def line(self, x0, y0, x1, y1, width, color):
        length = math.hypot(x1 - x0, y1 - y0)
        dx, dy = (y0 - y1) / length * width / 2, (x1 - x0) / length * width / 2
        self.polygon([(x0 + dx, y0 + dy), (x1 + dx, y1 + dy), (x1 - dx, y1 - dy), (x0 - dx, y0 - dy)], color)
        self.ellipse(x0, y0, width / 2, width / 2, color)
        self.ellipse(x1, y1, width / 2, width / 2, color)

    def ring(self, cx, cy, radius, width, color, inside):
        self.ellipse(cx, cy, radius, radius, color)
        self.ellipse(cx, cy, radius - width, radius - width, inside)

    def png(self):
        lines = bytearray()
        for y in range(HEIGHT):
            lines.append(0)
            three = self.rows[y * SCALE:(y + 1) * SCALE]
            for x in range(WIDTH):
                for channel in range(3):
                    lines.append(sum(row[(x * SCALE + i) * 3 + channel] for row in three for i in range(SCALE)) // 9)

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(bytes(lines), 9)) + chunk(b"IEND", b""))


def lamp():
    c = Canvas((58, 66, 92), (44, 47, 66))
    c.ellipse(160, 96, 150, 92, (82, 86, 108))
    c.ellipse(160, 96, 112, 72, (118, 112, 118))
    c.box(60, 196, 200, 14, WOOD, 4)
    c.box(78, 210, 12, 30, DARK_WOOD)
    c.box(230, 210, 12, 30, DARK_WOOD)
    c.ellipse(160, 192, 42, 9, INK)
    c.box(155, 110, 10, 84, INK)
    c.polygon([(126, 40), (194, 40), (228, 120), (92, 120)], YELLOW)
    c.polygon([(126, 40), (142, 40), (126, 120), (92, 120)], (255, 216, 128))
    c.line(190, 120, 190, 150, 2, GREY)
    c.ellipse(190, 153, 4, 4, RED)
    return c


def chair():
    c = Canvas((222, 232, 226), (202, 184, 158))
    c.ellipse(160, 224, 92, 9, (176, 158, 134))
    c.line(108, 40, 116, 220, 12, DARK_WOOD)
    c.line(206, 40, 200, 190, 12, DARK_WOOD)
    for y in (58, 84, 110):
        c.box(110, y, 96, 12, WOOD, 5)
    c.polygon([(104, 138), (204, 138), (238, 160), (126, 164)], RED)
    c.polygon([(126, 164), (238, 160), (238, 170), (126, 174)], (160, 54, 52))
    c.line(132, 176, 128, 224, 11, WOOD)
    c.line(230, 172, 236, 222, 11, WOOD)
    c.line(118, 200, 130, 206, 6, DARK_WOOD)
    return c


def bicycle():
    wall = (196, 222, 232)
    c = Canvas(wall, (160, 184, 138))
    c.ellipse(262, 48, 24, 24, YELLOW)
    c.box(0, 186, 320, 8, (130, 156, 112))
    for x in (92, 230):
        c.ring(x, 160, 50, 6, INK, wall)
        c.ring(x, 160, 44, 2, GREY, wall)
        for i in range(12):
            angle = math.tau * i / 12
            c.line(x, 160, x + 42 * math.cos(angle), 160 + 42 * math.sin(angle), 1, GREY)
        c.ellipse(x, 160, 5, 5, INK)
    for a, b in (((92, 160), (130, 96)), ((130, 96), (206, 96)), ((130, 96), (156, 162)), ((156, 162), (206, 96)),
                 ((92, 160), (156, 162)), ((202, 74), (230, 160))):
        c.line(*a, *b, 7, TEAL)
    c.line(126, 84, 130, 96, 6, TEAL)
    c.line(110, 82, 142, 82, 10, INK)
    c.line(202, 74, 186, 66, 6, INK)
    c.line(202, 74, 224, 64, 6, INK)
    c.ring(156, 162, 14, 4, INK, wall)
    c.line(156, 162, 166, 186, 5, INK)
    c.line(158, 188, 176, 188, 5, INK)
    return c


def radio():
    c = Canvas((240, 222, 196), (190, 148, 108))
    c.line(230, 92, 272, 22, 3, GREY)
    c.ellipse(272, 22, 4, 4, GREY)
    c.box(52, 84, 216, 126, DARK_WOOD, 16)
    c.box(58, 90, 204, 114, WOOD, 12)
    c.box(72, 104, 96, 86, CREAM, 8)
    for y in range(112, 186, 9):
        c.box(78, y, 84, 4, (206, 178, 140), 2)
    c.box(182, 104, 66, 34, WHITE, 6)
    for i in range(9):
        c.line(188 + i * 6.5, 124, 188 + i * 6.5, 132 - i % 2 * 3, 1, INK)
    c.line(208, 108, 208, 134, 2, RED)
    for x in (198, 232):
        c.ellipse(x, 168, 16, 16, INK)
        c.ellipse(x, 168, 11, 11, GREY)
        c.line(x, 168, x + 5, 160, 3, WHITE)
    c.box(76, 206, 24, 10, INK, 3)
    c.box(220, 206, 24, 10, INK, 3)
    return c


def teapot():
    wall = (232, 216, 228)
    c = Canvas(wall, (150, 120, 140))
    c.ellipse(160, 214, 96, 12, (120, 94, 114))
    c.ring(244, 138, 38, 12, BLUE, wall)
    c.polygon([(96, 150), (40, 92), (56, 84), (120, 126)], BLUE)
    c.ellipse(160, 150, 84, 62, BLUE)
    c.ellipse(136, 128, 26, 20, (112, 158, 196))
    c.ellipse(160, 94, 44, 12, (56, 98, 138))
    c.ellipse(160, 90, 40, 10, BLUE)
    c.ellipse(160, 76, 9, 9, YELLOW)
    for i in range(7):
        c.ellipse(100 + i * 20, 160 + 10 * math.sin(i * 1.7), 6, 6, WHITE)
    for x in (44, 56):
        for i in range(20):
            c.ellipse(x + 5 * math.sin(i / 3), 74 - i * 3, 2.5 - i / 12, 2.5, WHITE)
    return c


def guitar():
    c = Canvas((204, 196, 176), (120, 104, 92))
    c.ellipse(150, 226, 70, 8, (98, 84, 74))
    c.ellipse(140, 176, 58, 50, (214, 142, 66))
    c.ellipse(158, 120, 42, 38, (214, 142, 66))
    c.ellipse(140, 176, 50, 42, (228, 164, 88))
    c.ellipse(158, 121, 34, 30, (228, 164, 88))
    c.ellipse(150, 148, 20, 20, DARK_WOOD)
    c.ellipse(150, 148, 15, 15, INK)
    c.line(154, 140, 206, 34, 15, DARK_WOOD)
    c.line(206, 34, 216, 14, 19, INK)
    for i in range(6):
        c.line(162 + i * 7.6, 124 - i * 15.4, 172 + i * 7.6, 129 - i * 15.4, 1.5, GREY)
    c.line(118, 186, 150, 202, 8, DARK_WOOD)
    for i in range(4):
        c.line(126 + i * 5, 191 + i * 2.4, 203 + i * 3, 26 + i * 1.4, 0.8, WHITE)
    for i in range(3):
        c.ellipse(200 + i * 5, 30 - i * 10, 3, 3, WHITE)
        c.ellipse(219 + i * 5, 38 - i * 10, 3, 3, WHITE)
    return c


def main(folder):
    for draw in (lamp, chair, bicycle, radio, teapot, guitar):
        path = os.path.join(folder, draw.__name__ + ".png")
        with open(path, "wb") as file:
            file.write(draw().png())
        print(path, os.path.getsize(path), "bytes")


main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures"))
