import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby backup` and `cubby restore`, by the device's rules.
@Suite("Backups")
struct BackupTests {
    let program: Program

    init() throws { program = try Program() }

    private func fill() throws {
        _ = try program(
            "-e",
            """
            items:createItem{ name = 'bear' } defaults:set('k', 1)
            fs.write(app.container.documents .. '/note', 'kept') fs.write(app.container.applicationSupport .. '/s', 'kept')
            fs.write(app.container.caches .. '/c', 'gone')
            """)
    }

    @Test("everything but Caches and tmp comes back", arguments: ["copy", "copy.tar", "copy.tgz"])
    func roundTrip(name: String) throws {
        try fill()
        let copy = program.scratch.file(name)
        #expect(try program("backup", copy).stdout.hasPrefix("backed up "))
        let target = program.scratch.file("restored")
        #expect(try program("restore", "--container", target, copy).status == .exited(0))
        let result = try program(
            "--container", target, "-e",
            "print(items[1].name, defaults:get('k'), fs.read(app.container.documents .. '/note'), fs.read(app.container.applicationSupport .. '/s'), fs.exists(app.container.caches .. '/c'))"
        )
        #expect(result.stdout == "bear\t1\tkept\tkept\tfalse\n")
    }

    @Test(
        "several pictures of an item come back in their order; a check names one that is gone",
        arguments: [false, true])
    func severalPictures(byScript: Bool) throws {
        let copy = program.scratch.file("copies/copy")
        try FileManager.default.createDirectory(
            atPath: program.scratch.file("copies"), withIntermediateDirectories: true)
        let pictures = "\(Project.root)/examples/data/pictures"
        let made = try program(
            "--allow-read", pictures, "--allow-write", program.scratch.file("copies"), "-e",
            """
            local folder, copy = ...
            local all = {}
            for _, name in ipairs{ "lamp", "chair", "radio" } do all[#all + 1] = assert(image.open(folder .. "/" .. name .. ".png")) end
            local item = items:createItem{ name = "Set", itemKey = "set" }
            item.images = all
            item.images = { all[3], item.images[1], item.images[2] }
            assert(fs.exists(app.container.documents .. "/set"))
            if copy ~= "-" then assert(app:backup(copy)) end
            """, pictures, byScript ? copy : "-")
        #expect(made.status == .exited(0), "\(made.stderr)")
        let widths = "for _, picture in ipairs(items[1].images) do io.write(picture.width, ' ') end"
        let before = try program("-e", widths).stdout
        #expect(before.split(separator: " ").count == 3)
        if !byScript { #expect(try program("backup", copy).status == .exited(0)) }
        let target = program.scratch.file("restored")
        #expect(try program("restore", "--container", target, copy).status == .exited(0))
        #expect(try program("--container", target, "-e", widths).stdout == before)
        #expect(try program("check", target).status == .exited(0))
        let documents = try FileManager.default.contentsOfDirectory(atPath: "\(target)/Documents")
        let further = try #require(documents.first { $0.hasPrefix("set.") })
        try FileManager.default.removeItem(atPath: "\(target)/Documents/\(further)")
        let check = try program("check", target)
        #expect(check.stdout.contains(further), "\(check.stdout)")
    }

    @Test("a script's backup is restored like any other, and has what the script has just changed")
    func ofScript() throws {
        let folder = program.scratch.file("outside")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let made = try program(
            "--allow-write", folder, "-e",
            """
            items:createItem{ name = 'bear' }
            print(app:backup('\(folder)/copy') >= 1, select(2, app:backup('\(folder)/copy')).message)
            print(pcall(app.backup, app, app.container.documents .. '/copy'))
            print(select(2, pcall(items.transaction, items, function() app:backup('\(folder)/other') end)))
            print(fs.exists('\(folder)/other'), #fs.list('\(folder)'), app:backup('/proc/copy') == nil)
            """)
        #expect(
            made.stdout.replacing(folder, with: "F").replacing(program.container, with: "C") == """
                true\tcannot open F/copy: it is there already: give a new name
                false\ta backup does not go into the container itself: C/Documents/copy
                (command line):4: backup is not possible inside a transaction: its changes are not committed yet
                false\t1\ttrue

                """)
        _ = try program("restore", "--container", program.scratch.file("r"), folder + "/copy")
        #expect(try program("--container", program.scratch.file("r"), "-e", "print(items[1].name)").stdout == "bear\n")
    }

    @Test("what is there is not overwritten unasked, and moved aside when asked")
    func replace() throws {
        try fill()
        let copy = program.scratch.file("copy")
        _ = try program("backup", copy)
        #expect(try program("backup", copy).status == .exited(74))
        _ = try program("-e", "items[1].name = 'changed'")
        let refused = try program("restore", copy)
        #expect(refused.status == .exited(74))
        #expect(refused.stderr.contains("--replace"))
        let replaced = try program("restore", "--replace", copy)
        #expect(replaced.stdout.contains("what was there is in"))
        #expect(try program("-e", "print(items[1].name)").stdout == "bear\n")
        let aside = "\(program.container).before-restore-1"
        #expect(try FileManager.default.contentsOfDirectory(atPath: aside).sorted() == ["Documents", "Library"])
    }

    @Test("a backup that could not be opened takes no container's place", arguments: ["format", "archive"])
    func unreadable(part: String) throws {
        try fill()
        let copy = program.scratch.file("copy")
        #expect(try program("backup", copy).status == .exited(0))
        let archive = copy + "/Documents/items.archive"
        if part == "format" {
            try program.scratch.write("999\n", to: "copy/Library/format")
        } else {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: archive))
            try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: archive))
        }
        let refused = try program("restore", "--replace", copy)
        #expect(refused.status == .exited(65) && refused.stdout == "", "\(refused.stdout)\(refused.stderr)")
        #expect(refused.stderr.contains("is not restored: "), "\(refused.stderr)")
        #expect(try program("-e", "print(items[1].name)").stdout == "bear\n")
        #expect(!program.scratch.names().contains("container.before-restore-1"))
    }

    @Test("an archive of tar that is cut, wherever, is refused", arguments: ["copy.tar", "copy.tgz"])
    func cut(name: String) throws {
        try fill()
        let copy = program.scratch.file(name)
        #expect(try program("backup", copy).status == .exited(0))
        var whole = [UInt8](try program.scratch.read(name))
        while whole.last == 0 { whole.removeLast() }
        let target = program.scratch.file("restored")
        // The ends of blocks, where members end as well.
        let step = name == "copy.tar" ? 512 : whole.count / 5
        for length in Set(stride(from: step, to: whole.count, by: step)).union([(whole.count + 511) / 512 * 512 - 8]) {
            guard length < whole.count || name == "copy.tar" else { continue }
            let bytes = (whole + [UInt8](repeating: 0, count: 512)).prefix(length)
            try Data(bytes).write(to: URL(fileURLWithPath: program.scratch.file("cut-" + name)))
            let output = try program("restore", "--container", target, program.scratch.file("cut-" + name))
            #expect(output.stdout == "", "\(length): \(output.stderr)")
            #expect(output.status == .exited(65) || output.status == .exited(74), "\(length): \(output.stderr)")
        }
    }

    @Test("a restore that cannot be makes no container, and goes not into its own source")
    func places() throws {
        try fill()
        let copy = program.scratch.file("copy")
        #expect(try program("backup", copy).status == .exited(0))
        let absent = try program("restore", "--container", program.scratch.file("new"), program.scratch.file("nothing"))
        #expect(absent.status == .exited(74) && !program.scratch.names().contains("new"))
        for place in ["", "/Documents/new"] {
            let within = try program("restore", "--replace", "--container", copy + place, copy)
            #expect(within.status == .exited(64), "\(within.stderr)")
        }
        #expect(program.scratch.names("copy") == ["Documents", "Library"])
    }

    @Test("a folder that is no container keeps the files in its tmp")
    func foreignTemporaryFolder() throws {
        try program.scratch.write("important", to: "project/tmp/notes.txt")
        for words in [["-e", "return 1"], ["restore", program.container], ["fields", "--only", "/dev/null"]] {
            let output = try program(words, environment: ["CUBBY_CONTAINER": program.scratch.file("project")])
            #expect(output.status != .exited(0), "\(words): \(output.stderr)")
            #expect(program.scratch.names("project/tmp") == ["notes.txt"], "\(words)")
        }
    }

    @Test("what is no backup is refused")
    func noBackup() throws {
        #expect(try program("backup", program.scratch.file("x")).status == .exited(74))
        #expect(try program("restore", program.scratch.path).status == .exited(65))
        #expect(try program("restore", program.scratch.file("nothing")).status == .exited(74))
    }
}
