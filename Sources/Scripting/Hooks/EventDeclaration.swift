package import Lua

/// An event that scripts handle. The check of `on`, help, editor annotations and the reference are generated from the
/// declaration.
package struct EventDeclaration: Sendable, Equatable {
    /// The object whose `on` accepts the event; the raw value is its global's name.
    package enum Owner: String, Sendable, CaseIterable { case app, items }

    package let owner: Owner
    package let name: String
    package let documentation: String
    /// The fields of this event, in addition to those of all events.
    package let payload: [LuaParameter]
    /// Whether a handler may call `event:veto(reason)`.
    package let allowsVeto: Bool
    /// Whether its handlers are called regardless of earlier failures.
    package let isNeverPaused: Bool

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
    package var className: String {
        payload.isEmpty ? "Event" : name.prefix(1).uppercased() + String(name.dropFirst()) + "Event"
    }

    /// All events, those of `app` first, each group in chronological order.
    package static let all: [EventDeclaration] = applicationEvents + itemEvents

    /// The names of an owner's events.
    static func names(of owner: Owner) -> [String] { all.filter { $0.owner == owner }.map(\.name) }

    static let neverPaused = Set(all.filter(\.isNeverPaused).map(\.name))
}
