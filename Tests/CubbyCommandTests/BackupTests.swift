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

    @Test("what is no backup is refused")
    func noBackup() throws {
        #expect(try program("backup", program.scratch.file("x")).status == .exited(74))
        #expect(try program("restore", program.scratch.path).status == .exited(65))
        #expect(try program("restore", program.scratch.file("nothing")).status == .exited(74))
    }
}
