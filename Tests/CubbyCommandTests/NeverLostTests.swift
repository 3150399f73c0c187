import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// What becomes of items when the container is moved, or its archive is taken away, cut or overwritten.
@Suite("Never lost between launches")
struct NeverLostTests {
    let program: Program

    init() throws { program = try Program() }

    /// An archive of 5,000 items, and another item in the journal alone.
    private func fill() throws {
        let output = try program(
            "-e",
            "for i = 1, 5000 do items:createItem{ name = 'a name that is long ' .. i, itemKey = 'key ' .. i } end",
            "-e", "assert(items:saveChanges())", "-e", "items:createItem{ name = 'committed' }")
        #expect(output.status == .exited(0), "\(output.stderr)")
    }

    @Test("random operations leave the store equal to a plain model, across openings")
    func model() throws {
        let seed = Int.random(in: 1...1_000_000)
        for part in 0..<3 {
            let output = try program("run", "\(Project.root)/Tests/Soak/model.lua", String(seed + part), "30", "60")
            #expect(output.stdout.hasSuffix("equal\n"), "seed \(seed): \(output.stdout)\(output.stderr)")
        }
    }

    @Test("a container may be moved while it is closed")
    func movedContainer() throws {
        _ = try program("-e", "items:createItem{ name = 'here' } assert(items:saveChanges()) items[1].room = 'hall'")
        let moved = program.scratch.file("elsewhere")
        try FileManager.default.moveItem(atPath: program.container, toPath: moved)
        let output = try program("--container", moved, "-e", "print(items[1].name, items[1].room, app.container.path)")
        #expect(output.stdout == "here\thall\t\(moved)\n")
        #expect(output.stderr.isEmpty)
    }

    @Test("a missing or shortened archive is refused until it is put back, and nothing is changed meanwhile")
    func putBack() throws {
        try fill()
        let whole = try Data(contentsOf: URL(fileURLWithPath: program.archive))
        #expect(try program("backup", program.scratch.file("backup")).status == .exited(0))
        let names = try program.scratch.contents(of: "container/Documents")
        try FileManager.default.removeItem(atPath: program.archive)
        #expect(try program("-e", "print(#items)").status == .exited(65))
        #expect(try program.scratch.contents(of: "container/Documents") == names.filter { $0 != "items.archive" })
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: program.archive))
        let refused = try program("-e", "print(#items)")
        #expect(refused.status == .exited(65))
        #expect(refused.stderr.contains("is cut short"), "\(refused.stderr)")
        #expect(try program.scratch.contents(of: "container/Documents") == names)
        #expect(try Data(contentsOf: URL(fileURLWithPath: program.archive)).count == whole.count / 2)
        let restored = try program("restore", "--replace", program.scratch.file("backup"))
        #expect(restored.status == .exited(0), "\(restored.stderr)")
        #expect(try program("-e", "print(#items)").stdout == "5001\n")
        // Without a backup: what can be read is saved, and the rest is kept aside.
        try whole.prefix(whole.count - 40).write(to: URL(fileURLWithPath: program.archive))
        #expect(try program("check", "--repair", program.container).status == .exited(0))
        let repaired = try program("-e", "print(#items)")
        #expect(repaired.status == .exited(0), "\(repaired.stderr)")
        #expect(repaired.stdout == "5001\n")
    }

    @Test("nothing of an archive that was overwritten in place is saved; a new date alone is no matter")
    func overwritten() throws {
        try fill()
        let change = "items[1].valueInDollars = 1 print(items:saveChanges())"
        #expect(
            try program(
                "--allow-run", "-e", "local _ = assert(os.execute([[touch '\(program.archive)']]))", "-e", change
            ).stdout
                == "true\n")
        let refused = try program(
            "--allow-run", "-e",
            "assert(os.execute([[printf changed | dd status=none conv=notrunc bs=1 seek=70 of='\(program.archive)']]))",
            "-e", change.replacing("= 1", with: "= 2"))
        #expect(refused.stdout.contains("was changed in place by another program"), "\(refused.stdout)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: program.archive))[70..<77] == Data("changed".utf8))
    }
}
