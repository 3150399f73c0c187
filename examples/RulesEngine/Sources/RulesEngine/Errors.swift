import Lua

/// What Swift refuses: scripts see its `code` and `message`, and Swift gets the same error back when they don't catch it.
enum PricingError: Error {
    case discountTooLarge(product: String)
}

extension PricingError: LuaErrorDetails {
    var luaDomain: String { "PricingErrorDomain" }
    var luaCode: LuaErrorCode { .word("discountTooLarge") }
    var luaMessage: String {
        switch self {
        case .discountTooLarge(let product): "more than 30 % off \(product)"
        }
    }
    var luaPath: String? { nil }
}

/// What a rule refuses by `error{ code = …, product = … }`.
struct RuleViolation: Error, Codable {
    var code: String
    var product: String
}
