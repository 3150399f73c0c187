import PropertyList
import Testing

@Suite("Text")
struct TextTests {
    @Test(
        "JSON escapes what it must, and leaves the rest as it is",
        arguments: [
            ("", #""""#), (#"a"b\c"#, #""a\"b\\c""#), ("\n\r\t\u{1}\u{1F}\u{7F}", #""\n\r\t\u0001\u001f\u007f""#),
            ("Äpfel 🍎/", #""Äpfel 🍎/""#),
        ])
    func quoted(text: String, json: String) {
        #expect(JSONText.quoted(text) == json)
    }

    @Test(
        "Base64 reads what it wrote, with and without line breaks and padding",
        arguments: ["", "a", "ab", "abc", "some 150000 stall"])
    func base64(text: String) {
        var written: [UInt8] = []
        Array(text.utf8).withUnsafeBytes { Base64.encode($0, into: &written) }
        #expect(Base64.decode(written) == Array(text.utf8))
        #expect(Base64.decode(written.flatMap { [$0, 0x0A] }) == Array(text.utf8))
        #expect(Base64.decode(written.filter { $0 != UInt8(ascii: "=") }) == Array(text.utf8))
    }
}
