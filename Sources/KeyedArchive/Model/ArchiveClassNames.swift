import Synchronization

/// The global class name mappings, for archivers and unarchivers without their own.
final class ArchiveClassNames: Sendable {
    static let shared = ArchiveClassNames()

    private struct Names {
        var archived: [String: String] = [:]
        var types: [String: any KeyedCoding.Type] = [:]
    }

    private let names = Mutex(Names())

    func name(forClass className: String) -> String? { names.withLock { $0.archived[className] } }

    func setName(_ name: String?, forClass className: String) { names.withLock { $0.archived[className] = name } }

    func type(forClassName name: String) -> (any KeyedCoding.Type)? { names.withLock { $0.types[name] } }

    func setType(_ type: (any KeyedCoding.Type)?, forClassName name: String) {
        names.withLock { $0.types[name] = type }
    }
}
