import Foundation

/// Python's plistlib and plistutil on an archive.
enum OtherReaders {
    private static let script = """
        import plistlib, sys, time
        data = open(sys.argv[1], "rb").read()
        start = time.process_time(); value = plistlib.loads(data)
        middle = time.process_time(); plistlib.dumps(value, fmt=plistlib.FMT_BINARY)
        print(middle - start, time.process_time() - middle)
        """

    static func measure(_ bytes: [UInt8]) throws -> (pythonRead: Double, pythonWrite: Double, plistutil: Double) {
        let path = NSTemporaryDirectory() + "/\(UUID().uuidString).archive"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let seconds = try output("python3", ["-c", script, path]).split { $0 == " " || $0 == "\n" }.compactMap {
            Double($0)
        }
        // plistutil's own time, without the start of its process.
        let times = try output(
            "bash", ["-c", "TIMEFORMAT='%U %S'; time plistutil -i \"$0\" -f xml -o /dev/null 2>&1", path])
        let plistutil = times.split { $0 == " " || $0 == "\n" }.compactMap { Double($0) }.reduce(0, +)
        return (seconds.first ?? .nan, seconds.last ?? .nan, plistutil)
    }

    static func output(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
