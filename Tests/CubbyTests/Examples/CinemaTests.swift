import Foundation
import TestSupport
import Testing

/// The programs of examples/Cinema: models that belong together by the product `Items`, and the same by GRDB.
@Suite("Cinema", .serialized)
struct CinemaTests {
    /// Each rule on removal, a reference to nothing, an id that is taken, and a transaction that fails on its way.
    static let session = """
        person 7 Kurosawa
        person 8 Tati
        poster 1 Hirano a-picture
        poster 2 Ferracci another-picture
        film 7 Ran 162 7 1 A B
        film 8 Playtime 124 8 2 A
        film 9 Ikiru 143 7 1
        show
        person 7 Ozu
        film 10 Dodeskaden 140 9 1 A
        film 7 Rashomon 88 7 1 A B C
        drop poster 2
        drop film 7
        drop person 8
        show
        drop film 8
        drop poster 2
        show

        """

    static let expected = """
        Ikiru Kurosawa ["Hirano"] []
        Playtime Tati ["Ferracci"] ["A"]
        Ran Kurosawa ["Hirano"] ["A", "B"]
        Kurosawa ["Ran", "Ikiru"]
        Tati ["Playtime"]
        Hirano 9 ["Ran", "Ikiru"]
        Ferracci 15 ["Playtime"]
        3 screenings
        refused: person 7 Ozu
        refused: film 10 Dodeskaden 140 9 1 A
        refused: film 7 Rashomon 88 7 1 A B C
        refused: drop poster 2
        Ikiru Kurosawa ["Hirano"] []
        Playtime - ["Ferracci"] ["A"]
        Kurosawa ["Ikiru"]
        Hirano 9 ["Ikiru"]
        Ferracci 15 ["Playtime"]
        1 screenings
        Ikiru Kurosawa ["Hirano"] []
        Kurosawa ["Ikiru"]
        Hirano 9 ["Ikiru"]
        0 screenings

        """

    @Test("is written in 90 lines at most, and in fewer than with tables")
    func lines() throws {
        func count(_ target: String) throws -> Int {
            let text = try DocumentedText.file("examples/Cinema/Sources/\(target)/\(target).swift")
            return text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        }
        let (own, peer) = (try count("Cinema"), try count("CinemaInGRDB"))
        #expect(own <= 90)
        #expect(own < peer)
    }

    @Test(
        "finds what belongs together, keeps to the rules on removal, and answers as GRDB does",
        .enabled(if: ExamplePackage.areAllTried, "scripts/test --all"), .timeLimit(.minutes(20)))
    func session() throws {
        let package = try ExamplePackage("Cinema")
        let directory = try TemporaryDirectory()
        for name in ["Cinema", "CinemaInGRDB"] {
            let folder = directory.file(name)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let first = try run(package.program(name), [folder], input: Self.session)
            #expect(first.status == .exited(0), "\(name): \(first.stderr)")
            #expect(first.stdout == Self.expected, "\(name)")
            // What is kept is there for the next start.
            let second = try run(package.program(name), [folder], input: "show\n")
            #expect(second.stdout == Self.expected.split(separator: "\n").suffix(4).joined(separator: "\n") + "\n")
        }
    }
}
