package import PropertyList

/// Calls observers synchronously, in the order of their registration.
///
/// A post iterates over a snapshot: an observer removed meanwhile is skipped, and one added meanwhile waits for the
/// next post. Not Sendable: the application's thread owns it.
package final class ApplicationNotificationCenter {
    private var observers: [NotificationToken] = []

    /// Creates a center without observers.
    package init() {}

    /// Registers an observer.
    ///
    /// - Parameters:
    ///   - name: the observed name; nil for all.
    ///   - object: the observed poster; nil for any. It is not retained.
    ///   - handler: called with each notification.
    /// - Returns: the token for `removeObserver`.
    @discardableResult
    package func addObserver(
        _ name: String?, object: AnyObject? = nil, handler: @escaping (ApplicationNotification) -> Void
    ) -> NotificationToken {
        let token = NotificationToken(name: name, object: object, handler: handler)
        observers.append(token)
        return token
    }

    /// Removes an observer. Idempotent.
    ///
    /// - Parameter token: from `addObserver`.
    package func removeObserver(_ token: NotificationToken) {
        token.remove()
        observers.removeAll { $0 === token }
    }

    /// Posts a notification; its observers have been called when this returns.
    ///
    /// - Parameters:
    ///   - name: the name that observers register for.
    ///   - object: the poster.
    ///   - userInfo: the payload.
    /// - Returns: the number of observers called.
    @discardableResult
    package func post(_ name: String, object: AnyObject? = nil, userInfo: PropertyListFields = [:]) -> Int {
        post(ApplicationNotification(name, object: object, userInfo: userInfo))
    }

    /// Posts a notification; its observers have been called when this returns.
    ///
    /// - Parameter notification: the notification.
    /// - Returns: the number of observers called.
    @discardableResult
    package func post(_ notification: ApplicationNotification) -> Int {
        var count = 0
        for token in observers where token.wants(notification) {
            guard let handler = token.handler else { continue }
            handler(notification)
            count += 1
        }
        return count
    }

    /// The number of observers.
    package var observerCount: Int { observers.count }
}

/// A notification, addressed to the observers of its name.
package struct ApplicationNotification {
    /// Cocoa's names.
    package enum Name {
        /// A default has another value.
        package static let defaultsDidChange = "NSUserDefaultsDidChangeNotification"
    }

    /// The name, by which observers are chosen.
    package let name: String
    /// The poster, or a value that a host in another language attaches.
    package let object: AnyObject?
    /// Further details, by key.
    package let userInfo: PropertyListFields

    /// - Parameters:
    ///   - name: the name that observers register for.
    ///   - object: the poster.
    ///   - userInfo: the payload.
    package init(_ name: String, object: AnyObject? = nil, userInfo: PropertyListFields = [:]) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
    }
}

/// An observer's registration. The center retains it until it is removed.
package final class NotificationToken {
    /// The observed name; nil for all.
    package let name: String?
    /// The observed poster; nil for any.
    package private(set) weak var object: AnyObject?
    /// Whether the observer is no longer called.
    package private(set) var isRemoved = false

    private let hasObject: Bool
    private(set) var handler: ((ApplicationNotification) -> Void)?

    init(name: String?, object: AnyObject?, handler: @escaping (ApplicationNotification) -> Void) {
        self.name = name
        self.object = object
        hasObject = object != nil
        self.handler = handler
    }

    func wants(_ notification: ApplicationNotification) -> Bool {
        guard name == nil || name == notification.name else { return false }
        // When the observed object is gone, nothing matches.
        return !hasObject || (object != nil && object === notification.object)
    }

    func remove() {
        isRemoved = true
        handler = nil
    }
}
