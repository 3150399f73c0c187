import Testing

@testable import REPL

@Suite("The argument of :columns") struct ChosenColumnsTests {
    @Test(
        "is names, in quotes with blanks",
        arguments: [
            ("name room", ["name", "room"]), ("a, b,a", ["a", "b"]), ("\"a b\" c", ["a b", "c"]), ("", []),
            ("\"", [""]),
            ("*", ["*"]),
        ])
    func words(text: String, words: [String]) { #expect(ChosenColumns.words(text) == words) }

    @Test("is completed by the fields of the items and of the last records")
    func completion() throws {
        let test = try TestHost()
        try test.enter("items:createItem{ room = 'Attic' }")
        try test.enter("{ { rooms = 1 }, { rooms = 2 } }")
        #expect(test.complete(":columns name ro") == ["room", "rooms"])
        #expect(ChosenColumns.known(test.host).contains("itemKey"))
    }
}
