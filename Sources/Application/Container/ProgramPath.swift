import CPlatform
import Glibc

/// The path of the running program.
package enum ProgramPath {
    /// The executable's absolute path, without symbolic links. Without `/proc`, the path by which the program was
    /// started; nil if that path no longer exists.
    package static var current: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        if count > 0 { return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) }
        guard let given = cubby_program_path(), let resolved = realpath(given, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
