import Glibc

/// What libFuzzer calls with each input. `CUBBY_FUZZ` names the layer that is to be met: `binary`, `xml` or `keyed`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    do throws(Exercise.Broken) {
        try Exercise.everything(layer.file(from: bytes))
    } catch {
        print(error)
        fflush(nil)
        abort()
    }
    return 0
}

private let layer = getenv("CUBBY_FUZZ").flatMap { FuzzLayer(rawValue: String(cString: $0)) } ?? .binary
