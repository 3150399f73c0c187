import Foundation
import TestSupport
import Testing

/// The program of examples/Inventory: items without Lua, by the product `Items`.
@Suite("Inventory", .serialized, .enabled(if: ExamplePackage.areAllTried, "scripts/test --all"))
struct InventoryTests {
    static let session = """
        add Lamp 40
        add Chair 60
        add Painting 900
        add Lamp 1
        over 50
        value Lamp 45
        sell Chair
        undo
        undo
        worth
        help

        """

    @Test("is written in 40 lines, and creates, finds, observes, takes back and saves", .timeLimit(.minutes(15)))
    func session() throws {
        let source = try String(
            contentsOfFile: "\(Project.root)/examples/Inventory/Sources/Inventory/Inventory.swift", encoding: .utf8)
        #expect(source.split(separator: "\n").count <= 40)
        let program = try ExamplePackage("Inventory").program("Inventory")
        let directory = try TemporaryDirectory()
        let folder = "\(directory.path)/things"

        let first = try run(program, [folder], input: Self.session)
        #expect(first.status == .exited(0), "\(first.stderr)")
        // What is observed comes when it comes; what is asked for comes in order.
        let lines = first.stdout.split(separator: "\n").map(String.init)
        let observed = lines.filter { $0.contains(" new, ") }
        #expect(
            observed == [
                "1 new, 0 changed, 0 gone", "1 new, 0 changed, 0 gone", "1 new, 0 changed, 0 gone",
                "0 new, 1 changed, 0 gone", "0 new, 0 changed, 1 gone",
                "1 new, 0 changed, 0 gone", "0 new, 1 changed, 0 gone",
            ])
        #expect(
            lines.filter { !$0.contains(" new, ") } == [
                "an item with the itemKey Lamp is in the store already", "Painting 900", "Chair 60", "1000",
                "add NAME VALUE · value NAME VALUE · sell NAME · over VALUE · worth · undo",
            ])

        let second = try run(program, [folder], input: "over 0\n")
        #expect(second.stdout == "Painting 900\nChair 60\nLamp 40\n")
    }
}
