import Foundation
import KeyedArchive
import PropertyList

/// How far a process's memory grows while it archives, in one of its own.
enum Memory {
    static func report(_ count: Int) throws {
        print("memory beyond the \(count) items, as a multiple of the output")
        for kind in ["write", "file", "read"] {
            let text = try OtherReaders.output(CommandLine.arguments[0], ["--memory", kind, "\(count)"])
            print("  \(text.split(separator: "\n").joined())")
        }
    }

    static func measure(_ kind: String, _ count: Int) throws {
        let items = SampleStore(SampleItem.make(count))
        var bytes: [UInt8] = []
        if kind == "read" { bytes = try CubbyCodec.write(items) }
        // The program's own pages are not part of it: all that runs has run once.
        try rehearse(kind)
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        let before = value("VmRSS")
        switch kind {
        case "read": guard try CubbyCodec.firstName(bytes) != nil else { return }
        case "file":
            let path = NSTemporaryDirectory() + "/\(UUID().uuidString).archive"
            defer { unlink(path) }
            try CubbyCodec.write(items, to: path)
            print("archive to a file: \((value("VmHWM") - before) / 1024) MB")
            return
        default: bytes = try CubbyCodec.write(items)
        }
        let growth = value("VmHWM") - before
        let what = kind == "read" ? "open, to the first item" : "archive to data"
        print(String(format: "%@: %.2f (%d MB)", what, Double(growth) * 1024 / Double(bytes.count), growth / 1024))
    }

    private static func rehearse(_ kind: String) throws {
        let few = SampleStore(SampleItem.make(100))
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        _ = value("VmHWM")
        _ = try CubbyCodec.firstName(CubbyCodec.write(few))
        guard kind == "file" else { return }
        let path = NSTemporaryDirectory() + "/\(UUID().uuidString).archive"
        defer { unlink(path) }
        try CubbyCodec.write(few, to: path)
    }

    /// A figure of the process's status, in kilobytes.
    private static func value(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split(separator: " ").compactMap { Int($0) }.first
            ?? line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
