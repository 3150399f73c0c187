/// What a fuzzer's bytes are made into, so that they get past the layers below.
package enum FuzzLayer: String, CaseIterable, Sendable {
    case binary, xml, keyed

    package func file(from bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .binary: bytes
        case .xml: Array("<plist version=\"1.0\">".utf8) + bytes
        case .keyed: ArchiveGrammar.archive(from: bytes)
        }
    }
}
