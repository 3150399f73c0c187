import CFileFormats
import FileFormats

/// Reads a document of XML as a stream: subclasses handle its elements and texts, and may suspend the reading.
///
/// A document type declaration is refused, and with it each entity of a document's own: nothing expands, and no other file
/// is read. Names are those of their namespaces: `urn:oasis:names:tc:opendocument:xmlns:table:1.0 table-row`. Memory: a
/// buffer of 64 KiB, the open elements, and one tag. One thread owns it.
class XMLReader {
    /// Fills part of a buffer and returns the number of bytes; 0 at the end of the stream.
    typealias Source = (UnsafeMutableRawBufferPointer) throws -> Int

    /// The most elements within one another.
    static let depthLimit = 256
    /// The most bytes of a tag, a comment or a processing instruction.
    static let tagLimit = 1 << 20

    private let library: UnsafePointer<cformats_expat>
    private let parser: OpaquePointer
    private let source: Source
    private var error: (any Error)?
    private var depth = 0
    private var isSuspended = false
    private var isFinished = false
    /// The bytes that were read since the last event.
    private var silence = 0
    private static let chunkSize: Int32 = 65536

    /// - Parameter source: the document's bytes, in UTF-8, UTF-16 or ISO 8859-1 as its declaration has it.
    /// - Throws: `FormatError` with `unavailable` if expat is missing.
    init(source: @escaping Source) throws(FormatError) {
        var reason: UnsafePointer<CChar>?
        guard let library = cformats_expat(&reason) else {
            throw .unavailable("a spreadsheet needs expat", "libexpat1", reason)
        }
        guard let parser = library.pointee.XML_ParserCreateNS(nil, 0x20) else {
            throw FormatError(.unavailable, "expat does not start: there is no memory")
        }
        (self.library, self.parser, self.source) = (library, parser, source)
        let functions = library.pointee
        functions.XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        functions.XML_SetElementHandler(
            parser,
            { context, name, attributes in
                XMLReader.of(context)?.begin(XMLName(name), XMLAttributes(attributes))
            },
            { context, name in XMLReader.of(context)?.finish(XMLName(name)) })
        functions.XML_SetCharacterDataHandler(parser) { context, bytes, count in
            XMLReader.of(context)?.take(UnsafeRawPointer(bytes), Int(count))
        }
        // Comments and the like; with it no entity is expanded.
        functions.XML_SetDefaultHandler(parser) { context, _, _ in XMLReader.of(context)?.silence = 0 }
        functions.XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in
            XMLReader.of(context)?.fail(
                FormatError(.unsupported, "a document type declaration is not read, since its entities may expand"))
        }
    }

    deinit { library.pointee.XML_ParserFree(parser) }

    private static func of(_ context: UnsafeMutableRawPointer?) -> XMLReader? {
        context.map { Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: For subclasses

    /// Handles the start of an element. The name and the attributes are valid within the call.
    func start(_ name: XMLName, _ attributes: XMLAttributes) {}

    /// Handles the end of an element.
    func end(_ name: XMLName) {}

    /// Handles a piece of text: the text of an element may come in several.
    func text(_ bytes: UnsafeBufferPointer<UInt8>) {}

    /// Suspends the reading after the current element: `resume` returns.
    final func suspend() {
        guard !isSuspended, error == nil else { return }
        isSuspended = true
        _ = library.pointee.XML_StopParser(parser, 1)
    }

    /// Ends the reading with an error.
    final func fail(_ error: any Error) {
        guard self.error == nil else { return }
        self.error = error
        _ = library.pointee.XML_StopParser(parser, 0)
    }

    // MARK: Reading

    /// Reads on until a handler suspends the reading; false at the end of the document.
    ///
    /// - Throws: errors of the handlers and the source; `FormatError` for a document that is not well-formed.
    final func resume() throws -> Bool {
        if let error { throw error }
        while true {
            if isSuspended {
                isSuspended = false
                try check(library.pointee.XML_ResumeParser(parser))
            } else if isFinished {
                return false
            } else {
                guard let buffer = library.pointee.XML_GetBuffer(parser, Self.chunkSize) else {
                    throw FormatError(.tooLarge, "there is no memory for a part of its XML")
                }
                let count = try source(UnsafeMutableRawBufferPointer(start: buffer, count: Int(Self.chunkSize)))
                silence += count
                isFinished = count == 0
                try check(library.pointee.XML_ParseBuffer(parser, Int32(count), isFinished ? 1 : 0))
                // A longer one would be scanned from its start for each piece.
                if silence > Self.tagLimit {
                    throw FormatError(
                        .tooLarge, "\(place) a tag of its XML has more than \(Self.tagLimit.grouped) bytes")
                }
            }
            if isSuspended { return true }
        }
    }

    private func check(_ status: Int32) throws {
        if let error { throw error }
        // 1 for success, 2 for a suspended parser.
        guard status == 0 else { return }
        let code = library.pointee.XML_GetErrorCode(parser)
        let words = library.pointee.XML_ErrorString(code).map { String(cString: $0) } ?? "error \(code)"
        throw FormatError(.corrupt, "\(place) its XML is damaged: \(words)")
    }

    private var place: String {
        let line = library.pointee.XML_GetCurrentLineNumber(parser)
        let column = library.pointee.XML_GetCurrentColumnNumber(parser)
        return "at line \(line), column \(column + 1)"
    }

    private func begin(_ name: XMLName, _ attributes: XMLAttributes) {
        // Handlers are called until the end of a tag after the parser was stopped.
        guard error == nil else { return }
        silence = 0
        depth += 1
        guard depth <= Self.depthLimit else {
            return fail(
                FormatError(
                    .unsupported, "\(place) more than \(Self.depthLimit) elements of its XML are within one another"))
        }
        start(name, attributes)
    }

    private func finish(_ name: XMLName) {
        guard error == nil else { return }
        silence = 0
        depth -= 1
        end(name)
    }

    private func take(_ bytes: UnsafeRawPointer, _ count: Int) {
        guard error == nil else { return }
        silence = 0
        text(UnsafeBufferPointer(start: bytes.assumingMemoryBound(to: UInt8.self), count: count))
    }
}

/// The name of an element, valid within a handler.
struct XMLName {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let localStart: Int

    init(_ name: UnsafePointer<CChar>) {
        let start = UnsafeRawPointer(name).assumingMemoryBound(to: UInt8.self)
        var count = 0
        var local = 0
        while start[count] != 0 {
            if start[count] == 0x20 { local = count + 1 }
            count += 1
        }
        bytes = UnsafeBufferPointer(start: start, count: count)
        localStart = local
    }

    /// Whether it is a name in any namespace.
    func isLocal(_ name: StaticString) -> Bool {
        Self.equal(UnsafeBufferPointer(rebasing: bytes[localStart...]), name)
    }

    /// Whether it is a name with its namespace, which a space separates.
    func `is`(_ name: StaticString) -> Bool { Self.equal(bytes, name) }

    static func equal(_ bytes: UnsafeBufferPointer<UInt8>, _ name: StaticString) -> Bool {
        guard bytes.count == name.utf8CodeUnitCount else { return false }
        // Namespaces are alike; their names are not.
        var index = bytes.count
        while index > 0 {
            index -= 1
            if bytes[index] != name.utf8Start[index] { return false }
        }
        return true
    }
}

/// The attributes of an element, valid within a handler.
struct XMLAttributes {
    private let pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>

    init(_ pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>) { self.pairs = pairs }

    /// The value of an attribute, by its name with its namespace; nil if the element has none of it.
    subscript(name: StaticString) -> UnsafeBufferPointer<UInt8>? {
        var index = 0
        while let key = pairs[index], let value = pairs[index + 1] {
            let start = UnsafeRawPointer(key).assumingMemoryBound(to: UInt8.self)
            let count = name.utf8CodeUnitCount
            var place = 0
            while place < count, start[place] != 0, start[place] == name.utf8Start[place] { place += 1 }
            if place == count, start[count] == 0 { return Self.buffer(value) }
            index += 2
        }
        return nil
    }

    /// The value of an attribute as text.
    func string(_ name: StaticString) -> String? { self[name].map { String(decoding: $0, as: UTF8.self) } }

    private static func buffer(_ text: UnsafePointer<CChar>) -> UnsafeBufferPointer<UInt8> {
        let start = UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self)
        var count = 0
        while start[count] != 0 { count += 1 }
        return UnsafeBufferPointer(start: start, count: count)
    }
}
