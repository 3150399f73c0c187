import Glibc

/// Where the running program is.
public enum ProgramPath {
    /// The executable's absolute path, without symbolic links; nil when `/proc` does not tell.
    public static var current: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
