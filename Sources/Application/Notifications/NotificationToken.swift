/// An observer's registration. The center keeps it until it is removed; dropping the token changes nothing.
public final class NotificationToken {
    /// What is observed; nil for everything.
    public let name: String?
    /// Whose notifications are observed; nil for anybody's.
    public private(set) weak var object: AnyObject?
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
        // An observer of an object that is gone hears nothing, instead of everything.
        return !hasObject || (object != nil && object === notification.object)
    }

    func remove() {
        isRemoved = true
        handler = nil
    }
}
