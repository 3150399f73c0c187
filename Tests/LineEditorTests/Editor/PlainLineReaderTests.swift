import LineEditor
import Testing

@Suite("Plain line reader")
struct PlainLineReaderTests {
    @Test("Lines are submitted when they are complete; nothing but prompts is written")
    func lines() {
        var reader = PlainLineReader(services: Typist.services)
        #expect(reader.begin(prompt: "> ", continuation: "… ") == [.write(Array("> ".utf8))])
        #expect(reader.feed(Array("do\n".utf8)) == [.write(Array("… ".utf8))])
        #expect(reader.feed(Array("x\nend\r\nne".utf8)) == [.write(Array("… ".utf8)), .submitted("do\nx\nend")])
        #expect(reader.begin(prompt: "") == [])
        #expect(reader.feed(Array("xt".utf8)) == [])
        #expect(reader.end() == [.submitted("next")])
        #expect(reader.begin(prompt: "") == [.endOfInput])
    }

    @Test("What was begun is submitted at the end, or dropped by an interrupt")
    func unfinished() {
        var reader = PlainLineReader(services: Typist.services)
        _ = reader.begin(prompt: "")
        #expect(reader.feed(Array("do\n".utf8)) == [])
        #expect(reader.interrupt() == [.interrupt])
        #expect(reader.feed(Array("do\nx".utf8)) == [])
        #expect(reader.end() == [.submitted("do\nx")])
    }
}
