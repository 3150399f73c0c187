import Glibc
import KeyedArchive
import PropertyList

/// What libFuzzer calls with each input. `CUBBY_FUZZ` names the layer that is to be met: `binary`, `xml` or `keyed`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    switch layer {
    case "keyed": Exercise.everything(ArchiveGrammar.archive(from: bytes))
    case "xml": Exercise.everything(Array("<plist version=\"1.0\">".utf8) + bytes)
    default: Exercise.everything(bytes)
    }
    return 0
}

private let layer = getenv("CUBBY_FUZZ").map { String(cString: $0) } ?? "binary"
