import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby gallery`: whose files it writes over, what its errors show, and its script with fields of any name.
@Suite("Gallery")
struct GalleryTests {
    let program: Program

    init() throws { program = try Program() }

    @Test(
        "it goes into a folder that is new, empty or a gallery's, and over nothing else unasked",
        arguments: [
            ([:], true), (["index.html": "<p>mine"], false), (["notes.txt": "mine"], false),
            (["gallery.css": "mine"], false), (["pictures/1.jpg": "mine"], false),
        ] as [([String: String], Bool)])
    func foreignFolder(files: [String: String], isWritten: Bool) throws {
        let folder = program.scratch.file("page")
        for (name, text) in files { try program.scratch.write(text, to: "page/" + name) }
        let output = try program("gallery", folder)
        #expect(output.status == .exited(isWritten ? 0 : 74), "\(output.stderr)")
        let bindings = try program("--allow-write", folder, "-e", "print(items:query():gallery(...))", folder)
        #expect(bindings.stdout.hasPrefix("table: ") == isWritten, "\(bindings.stdout)")
        for (name, text) in files {
            #expect(try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) == text)
            #expect(
                output.stderr.contains("from no gallery; choose an empty folder") && output.stderr.contains("--replace")
            )
        }
        // A second one goes over the first.
        #expect(try program("gallery", "--replace", folder).status == .exited(0))
        #expect(try program("gallery", folder).status == .exited(0))
        #expect(try String(contentsOfFile: "\(folder)/index.html", encoding: .utf8).contains("content=\"Cubby\""))
    }

    @Test(
        "an error shows nothing of the host's own source",
        arguments: ["valueInDollars >", "nmae == 1", "FUNCTION(1, 'x')", "name == \"\u{1B}\""])
    func errors(predicate: String) throws {
        let output = try program("gallery", predicate, program.scratch.file("page"))
        #expect(output.status == .exited(64) || predicate.hasPrefix("name"), "\(output.stderr)")
        for text in [" | ", "local ", "traceback", "cubby gallery:", "command line", "assert"] {
            #expect(!output.stderr.contains(text), "\(output.stderr)")
        }
    }

    static let node = (try? run("node", ["--version"]))?.status == .exited(0)

    @Test("fields have any name: toString, __proto__, constructor", .enabled(if: node, "node is not installed"))
    func fieldNames() throws {
        let made = try program(
            "-e",
            """
            items:createItem{ name = "Plain" }
            items:createItem{ name = "Odd", toString = "custom", ["__proto__"] = "own", constructor = { "__proto__" },
              hasOwnProperty = 1 }
            """)
        #expect(made.status == .exited(0), "\(made.stderr)")
        let folder = program.scratch.file("page")
        #expect(try program("gallery", folder).status == .exited(0))
        let seen = try run("node", ["-e", Self.browser, folder])
        #expect(
            seen.stdout == """
                Plain: name=Plain
                Odd: __proto__=own constructor=__proto__ hasOwnProperty=1 name=Odd toString=custom
                tostring:custom: Odd
                native: (none)
                sorted by toString: Odd,Plain

                """, "\(seen.stderr)")
    }

    @Test("totals are exact and say what is not in them; searches take fields of any name", .enabled(if: node))
    func totals() throws {
        let made = try program(
            "-e",
            """
            items:declare{ paid = { kind = "number", format = "money" } }
            items:createItem{ name = "A", paid = 0.1, room = "Attic", ["my field"] = "x y", ["größe"] = "zehn" }
            items:createItem{ name = "B", paid = 0.2, room = "Attic" }
            items:createItem{ name = "C", paid = -300, room = { "Bath", "Attic" } }
            items:createItem{ name = "D", paid = 9007199254740993, room = "Cellar" }
            items:createItem{ name = "E", paid = 0/0, room = "Cellar" }
            """)
        #expect(made.status == .exited(0), "\(made.stderr)")
        let folder = program.scratch.file("page")
        #expect(try program("gallery", folder).status == .exited(0))
        let seen = try run("node", ["-e", Self.document + Self.looker, folder])
        #expect(
            seen.stdout == """
                5 of 5 items · 9,007,199,254,740,693.30 · 1 item not in the totals
                Cellar: 9,007,199,254,740,993.00; Bath: -300.00; Attic: -299.70
                paid by room; items with several values count for each
                "my field":"x y" A
                größe:zehn A
                name:c C

                """, "\(seen.stderr)")
    }

    /// Prints what the page says of totals, and the items that searches find.
    static let looker = """
        console.log(ids.count.textContent);
        ids.group.value = "room"; ids.group.listeners.change();
        console.log(ids.chart.attributes["aria-label"]);
        console.log(ids.caption.textContent);
        for (const words of ['"my field":"x y"', "größe:zehn", "name:c"]) {
          ids.search.value = words; ids.search.listeners.input();
          console.log(words + " " + cards().map((one) => one.children[1].children[0].textContent).join(","));
        }
        """

    /// As much of a document as the page's script needs.
    static let document = """
        const fs = require("fs"), folder = process.argv[1];
        class Node {
          constructor(name) { this.tagName = name; this.children = []; this.attributes = {}; this.listeners = {}; this.value = ""; }
          append(...nodes) { this.children.push(...nodes); }
          replaceChildren(...nodes) { this.children = nodes; }
          setAttribute(name, value) { this.attributes[name] = value; }
          addEventListener(name, body) { this.listeners[name] = body; }
          get firstElementChild() { return this.children[0] ?? (this.children[0] = new Node("button")); }
          get parentElement() { return new Node("label"); }
          querySelectorAll() { return []; } querySelector() { return null; }
          showModal() { this.open = true; } close() { this.open = false; } focus() {} select() {}
          get textContent() { return this.text ?? this.children.map((one) => one.textContent ?? one).join(""); }
          set textContent(text) { this.text = text; }
        }
        const ids = {};
        globalThis.window = { addEventListener() {} };
        globalThis.document = {
          getElementById: (id) => ids[id] ??= new Node(id), createElement: (name) => new Node(name),
          createElementNS: (_, name) => new Node(name), addEventListener() {}, activeElement: { tagName: "" },
        };
        for (const name of ["items.js", "gallery.js"]) (0, eval)(fs.readFileSync(folder + "/" + name, "utf8"));
        const cards = () => ids.cards.children.filter((one) => one.attributes.class === "card");

        """

    /// Opens each item and searches.
    static let browser =
        document + """
            const fields = () => {
              const list = ids.detail.children.find((one) => one.tagName === "dl").children, texts = [];
              for (let i = 0; i < list.length; i += 2) texts.push(list[i].textContent + "=" + list[i + 1].textContent);
              return texts.filter((text) => !/^(itemKey|dateCreated|valueInDollars|serialNumber)=/.test(text)).sort().join(" ");
            };
            for (const card of cards()) {
              card.listeners.click();
              console.log(card.children[1].children[0].textContent + ": " + fields());
            }
            const names = () => cards().map((one) => one.children[1].children[0].textContent).join(",");
            for (const words of ["tostring:custom", "native"]) {
              ids.search.value = words; ids.search.listeners.input(); console.log(words + ": " + (names() || "(none)"));
            }
            ids.search.value = ""; ids.sort.value = "toString"; ids.sort.listeners.change();
            console.log("sorted by toString: " + names());
            """
}
