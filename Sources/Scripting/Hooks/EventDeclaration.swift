public import Lua

/// An event that scripts handle, declared once: the check of `on`, help, editor annotations and the reference come from
/// here.
public struct EventDeclaration: Sendable, Equatable {
    /// Whose `on` takes the event; the raw value is the global's name.
    public enum Owner: String, Sendable, CaseIterable { case app, items }

    public let owner: Owner
    public let name: String
    public let documentation: String
    /// What the handler's event has beside what all events have.
    public let payload: [LuaParameter]
    /// Whether a handler may refuse by `event:veto(reason)`.
    public let allowsVeto: Bool
    /// Whether its handlers are called however often they failed: what they do must not be left undone.
    public let isNeverPaused: Bool

    init(
        _ owner: Owner, _ name: String, _ documentation: String, _ payload: [LuaParameter] = [],
        allowsVeto: Bool = false, isNeverPaused: Bool = false
    ) {
        self.owner = owner
        self.name = name
        self.documentation = documentation
        self.payload = payload
        self.allowsVeto = allowsVeto
        self.isNeverPaused = isNeverPaused
    }

    /// The name of the event's class in editor annotations: `DidSaveEvent`; events without a payload have none.
    public var className: String {
        payload.isEmpty ? "Event" : name.prefix(1).uppercased() + String(name.dropFirst()) + "Event"
    }

    /// All events, those of `app` first, each in the order of their lives.
    public static let all: [EventDeclaration] = applicationEvents + itemEvents

    /// The names of an owner's events.
    static func names(of owner: Owner) -> [String] { all.filter { $0.owner == owner }.map(\.name) }

    static let neverPaused = Set(all.filter(\.isNeverPaused).map(\.name))
}
