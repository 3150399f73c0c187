public import PropertyList

/// Tells observers of what is posted, at once and in the order in which they registered.
///
/// A post calls its observers before it returns, over a snapshot: one that is removed meanwhile is passed over, one that is
/// added meanwhile waits for the next post. Not Sendable: the thread that owns the application owns it.
public final class ApplicationNotificationCenter {
    private var observers: [NotificationToken] = []

    public init() {}

    /// Registers an observer.
    ///
    /// - Parameters:
    ///   - name: what to observe; nil for everything.
    ///   - object: whose notifications; nil for anybody's. It is not kept alive.
    ///   - handler: called with each.
    /// - Returns: what to remove the observer with.
    @discardableResult
    public func addObserver(
        _ name: String?, object: AnyObject? = nil, handler: @escaping (ApplicationNotification) -> Void
    ) -> NotificationToken {
        let token = NotificationToken(name: name, object: object, handler: handler)
        observers.append(token)
        return token
    }

    /// Removes an observer. Does nothing the second time.
    ///
    /// - Parameter token: from `addObserver`.
    public func removeObserver(_ token: NotificationToken) {
        token.remove()
        observers.removeAll { $0 === token }
    }

    /// Posts a notification; its observers have been called when this returns.
    ///
    /// - Parameters:
    ///   - name: what observers ask for.
    ///   - object: who posts it.
    ///   - userInfo: what there is to say.
    /// - Returns: how many observers were called.
    @discardableResult
    public func post(_ name: String, object: AnyObject? = nil, userInfo: [String: PropertyListValue] = [:]) -> Int {
        post(ApplicationNotification(name, object: object, userInfo: userInfo))
    }

    /// Posts a notification; its observers have been called when this returns.
    ///
    /// - Parameter notification: what to tell.
    /// - Returns: how many observers were called.
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

    /// How many observers there are.
    public var observerCount: Int { observers.count }
}
