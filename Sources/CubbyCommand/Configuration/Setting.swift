import Items
import Logging

/// A setting of `cubby config`, named as its option.
enum Setting: String, CaseIterable {
    case timeLimit = "time-limit"
    case memoryLimit = "memory-limit"
    case durability
    case logLevel = "log-level"

    static var names: [String] { allCases.map(\.rawValue) }

    /// The values, in words.
    var range: String {
        switch self {
        case .timeLimit: "seconds above 0"
        case .memoryLimit: "megabytes from 1 to 1000000"
        case .durability: Durability.allValueStrings.joined(separator: " or ")
        case .logLevel: Logger.Level.allValueStrings.joined(separator: ", ")
        }
    }

    var unit: String {
        switch self {
        case .timeLimit: " s"
        case .memoryLimit: " MB"
        case .durability, .logLevel: ""
        }
    }

    /// The default value; nil for no limit.
    var standard: String? {
        switch self {
        case .timeLimit, .memoryLimit: nil
        case .durability: Durability.process.rawValue
        case .logLevel: Logger.Level.info.rawValue
        }
    }

    func accepts(_ text: String) -> Bool {
        switch self {
        case .timeLimit: Double(text).map { $0 > 0 && $0.isFinite } ?? false
        case .memoryLimit: Int(text).map { (1...1_000_000).contains($0) } ?? false
        case .durability: Durability(rawValue: text) != nil
        case .logLevel: Logger.Level(rawValue: text) != nil
        }
    }
}
