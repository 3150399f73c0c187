public import PropertyList

/// Calls observers synchronously, in the order of their registration.
///
/// A post iterates over a snapshot: an observer removed meanwhile is skipped, and one added meanwhile waits for the
/// next post. Not Sendable: the application's thread owns it.
public final class ApplicationNotificationCenter {
    private var observers: [NotificationToken] = []

    /// Creates a center without observers.
    public init() {}

    /// Registers an observer.
    ///
    /// - Parameters:
    ///   - name: the observed name; nil for all.
    ///   - object: the observed poster; nil for any. It is not retained.
    ///   - handler: called with each notification.
    /// - Returns: the token for `removeObserver`.
    @discardableResult
    public func addObserver(
        _ name: String?, object: AnyObject? = nil, handler: @escaping (ApplicationNotification) -> Void
    ) -> NotificationToken {
        let token = NotificationToken(name: name, object: object, handler: handler)
        observers.append(token)
        return token
    }

    /// Removes an observer. Idempotent.
    ///
    /// - Parameter token: from `addObserver`.
    public func removeObserver(_ token: NotificationToken) {
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
    public func post(_ name: String, object: AnyObject? = nil, userInfo: PropertyListFields = [:]) -> Int {
        post(ApplicationNotification(name, object: object, userInfo: userInfo))
    }

    /// Posts a notification; its observers have been called when this returns.
    ///
    /// - Parameter notification: the notification.
    /// - Returns: the number of observers called.
    @discardableResult
    public func post(_ notification: ApplicationNotification) -> Int {
        var count = 0
        for token in observers where token.wants(notification) {
            guard let handler = token.handler else { continue }
            handler(notification)
            count += 1
        }
        return count
    }

    /// The number of observers.
    public var observerCount: Int { observers.count }
}
