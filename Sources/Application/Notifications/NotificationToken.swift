/// An observer's registration. The center retains it until it is removed.
public final class NotificationToken {
    /// The observed name; nil for all.
    public let name: String?
    /// The observed poster; nil for any.
    public private(set) weak var object: AnyObject?
    /// Whether the observer is no longer called.
    public private(set) var isRemoved = false

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
