import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// Pictures of every format and orientation, made and judged by another library.
@Suite("Pictures", .timeLimit(.minutes(5)))
struct PictureTests {
    let program: Program

    init() throws { program = try Program() }

    /// Debian's own Python, whose packages are Debian's.
    static let python = "/usr/bin/python3"
    static let judge = "\(Project.root)/Tests/Judges/pictures.py"
    static var hasPython: Bool { FileManager.default.isExecutableFile(atPath: python) }
    static var hasPillow: Bool { (try? run(python, ["-c", "import PIL"]).status == .exited(0)) ?? false }

    @Test(
        "every format comes in upright and is stored as JPEG; EXIF is read, and kept when asked, without the place",
        .enabled(if: hasPillow, "python3-pil is not installed"))
    func formats() throws {
        let folder = program.scratch.file("pictures")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(try run(Self.python, [Self.judge, "make", folder]).status == .exited(0))
        let script = """
            local folder = ...
            local count = 0
            for _, name in ipairs(fs.list(folder)) do
              local picture = assert(image.open(folder .. "/" .. name))
              assert(picture.width == 64 and picture.height == 48, name)
              assert(images:setImage(picture, name, { quality = 0.95 }))
              count = count + 1
            end
            local turned = image.open(folder .. "/turned-6.jpg")
            local exif = turned.exif
            print(exif.Make, exif.Orientation, exif.FNumber, exif.latitude, exif.longitude)
            local function kept(options) return image.fromData(turned:jpegData(0.9, options)).exif end
            local none, safe, all = kept(), kept{ metadata = true }, kept{ location = true }
            print(none.Make, safe.Make, safe.latitude, safe.Orientation, all.latitude)
            print(count)
            """
        let output = try program("-e", script, folder)
        #expect(output.status == .exited(0), "\(output.stderr)")
        let lines = output.stdout.split(separator: "\n").map(String.init)
        try #require(lines.count == 3)
        #expect(lines[0] == "Brownie (Kodak)\t6\t2.8\t52.51\t-13.25")
        #expect(lines[1] == "nil\tBrownie (Kodak)\tnil\t1\t52.51")
        for name in ["items.archive", "items.journal"] {
            try? FileManager.default.removeItem(atPath: "\(program.container)/Documents/\(name)")
        }
        let verdict = try run(Self.python, [Self.judge, "judge", "\(program.container)/Documents"])
        #expect(verdict.stdout == "\(lines[2]) judged\n", "\(verdict.stdout)\(verdict.stderr)")
    }

    /// The example of the slides: two pictures in the cache, and after the flush one that was looked at again.
    @Test("memory warnings are told as the slides show them, line for line") func flushes() throws {
        let script = """
            local picture = assert(image.open(...))
            local first, second = items:createItem{ name = "A" }, items:createItem{ name = "B" }
            first.image, second.image = picture, picture
            app:simulateMemoryWarning()
            assert(second.image and second.image)
            app:simulateMemoryWarning()
            items:removeItem(first) items:removeItem(second)
            """
        let output = try program("-e", script, "\(Project.root)/examples/data/pictures/teapot.jpg")
        let form = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} cubby\[\d+:[0-9a-f]+\] (?:\[[0-9a-z]{6}\] )?(.*)/
        let lines = output.stderr.split(separator: "\n").prefix(4).map {
            (try? form.wholeMatch(in: $0))?.output.1 ?? $0
        }
        #expect(
            lines == [
                "Received memory warning.", "flushing 2 images out of the cache", "Received memory warning.",
                "flushing 1 images out of the cache",
            ])
    }

    static let chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].first {
        FileManager.default.fileExists(atPath: $0)
    }

    /// Searches, sorts, opens and moves in the page as a person would, and says what it saw in the title.
    static let exercise = """
        <script>
        const seen = [], cards = () => [...document.querySelectorAll('.card strong')].map((node) => node.textContent);
        const key = (name) => document.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
        const set = (id, value, kind) => { const node = document.getElementById(id); node.value = value; node.dispatchEvent(new Event(kind)); };
        seen.push(cards().join(','));
        set('search', 'room:study', 'input'); seen.push(cards().join(','));
        set('search', 'CAFE', 'input'); seen.push(cards().join(','));
        set('search', '', 'input'); set('sort', 'valueInDollars', 'change'); seen.push(cards().join(','));
        document.getElementById('direction').click(); seen.push(cards().join(','));
        key('ArrowRight'); seen.push(document.activeElement.dataset.index);
        document.activeElement.click(); key('ArrowRight'); seen.push(document.getElementById('detail-title').textContent);
        seen.push(document.getElementById('chart').getAttribute('aria-label'));
        seen.push(document.images.length + ' ' + document.querySelectorAll('b').length);
        document.title = seen.join('|');
        </script>
        """

    /// Writes a gallery of three items and one picture into a folder.
    private func writeGallery(into folder: String) throws {
        let picture = "\(Project.root)/examples/data/pictures/bicycle.png"
        let script = """
            local study = items:createItem{ name = "Lamp <b>", valueInDollars = 30, room = "Study" }
            study.image = assert(image.open(...))
            items:createItem{ name = "Café table", valueInDollars = 200, room = "Hall" }
            items:createItem{ name = "Vase", valueInDollars = 5, room = "Hall" }
            """
        #expect(try program("-e", script, picture).status == .exited(0))
        let output = try program("gallery", folder)
        #expect(output.stdout == "3 items, 1 picture: \(folder)/index.html\n", "\(output.stderr)")
    }

    /// The page's document after its scripts have run in a headless browser.
    private func document(of page: String) throws -> String {
        try run(
            try #require(Self.chromium),
            [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                "--user-data-dir=\(program.scratch.file("profile"))", "--virtual-time-budget=3000", "--dump-dom",
                "file://\(page)",
            ]
        ).stdout
    }

    @Test("a gallery is a page, its items and its pictures, and refers to nothing elsewhere")
    func gallery() throws {
        let folder = program.scratch.file("page")
        try writeGallery(into: folder)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(files == ["gallery.css", "gallery.js", "index.html", "items.js", "pictures", "thumbnails"])
        let html = try String(contentsOfFile: "\(folder)/index.html", encoding: .utf8)
        #expect(!html.contains("://") && html.hasPrefix("<!DOCTYPE html>"))
    }

    @Test(
        "the gallery's page searches, sorts, totals and opens, and shows no item's text as HTML",
        .enabled(if: chromium != nil, "no Chromium is installed"))
    func galleryInBrowser() throws {
        let folder = program.scratch.file("page")
        try writeGallery(into: folder)
        let page = "\(folder)/index.html"
        let html = try String(contentsOfFile: page, encoding: .utf8)
        try (html + Self.exercise).write(toFile: page, atomically: true, encoding: .utf8)
        let title =
            try document(of: page).split(separator: "<title>").dropFirst().first?
            .split(separator: "</title>").first ?? ""
        #expect(
            title == "Lamp &lt;b&gt;,Café table,Vase|Lamp &lt;b&gt;|Café table|Vase,Lamp &lt;b&gt;,Café table"
                + "|Café table,Lamp &lt;b&gt;,Vase|0|Lamp &lt;b&gt;|Hall: 205; Study: 30|2 0")
    }

    @Test("a long gallery shows how far it is; Ctrl-C ends it with a message, and there is no page")
    func galleryInterrupted() throws {
        let script = """
            local picture = assert(image.open(...)):resized(1200, 900)
            local first = items:createItem{ name = "1" }
            first.image = picture
            local bytes = fs.read(images:imagePath(first.itemKey))
            for i = 2, 2000 do fs.write(images:imagePath(items:createItem{ name = tostring(i) }.itemKey), bytes) end
            """
        let picture = "\(Project.root)/examples/data/pictures/teapot.jpg"
        #expect(try program("-e", script, picture).status == .exited(0))
        let folder = program.scratch.file("page")
        let terminal = try program.terminal("gallery", folder)
        try terminal.expect(matching: #"Writing █*░+ \d+/2000 · \d+ s left"#, timeout: 60)
        try terminal.send(control: "c")
        try terminal.expect("interrupted")
        #expect(try terminal.waitForExit() == .exited(130))
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(files == ["gallery.css", "pictures", "thumbnails"], "no index.html, no items.js")
        let written = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/thumbnails")
        #expect(written.count < 2000 && written.allSatisfy { $0.hasSuffix(".jpg") })
        // The next one goes over what is there.
        #expect(try program("gallery", "name = '1'", folder).stdout.hasPrefix("1 item, 1 picture: "))
        #expect(FileManager.default.fileExists(atPath: "\(folder)/index.html"))
    }

    @Test("a gallery of what a predicate finds, and one that is none") func galleryOfSome() throws {
        #expect(try program("-e", "for i = 1, 4 do items:createItem{ valueInDollars = i } end").status == .exited(0))
        let folder = program.scratch.file("page")
        #expect(try program("gallery", "valueInDollars > 2", folder).stdout.hasPrefix("2 items, 0 pictures"))
        #expect(try program("gallery", "valueInDollars >", folder).status == .exited(64))
        #expect(try program("gallery").status == .exited(64))
        #expect(
            try program("--no-init", "gallery", "--title", "Two", "valueInDollars > 2", folder).stdout
                .hasPrefix("2 items, 0 pictures"))
        #expect(try program("gallery", "valueInDollars > 99", folder).stdout.hasPrefix("0 items"))
    }

    @Test("a gallery of no items says so", .enabled(if: chromium != nil, "no Chromium is installed"))
    func galleryOfNone() throws {
        let folder = program.scratch.file("page")
        #expect(try program("gallery", folder).status == .exited(0))
        #expect(try document(of: "\(folder)/index.html").contains("There are no items yet."))
    }
}
