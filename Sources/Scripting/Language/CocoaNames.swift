/// The names of Cocoa's that those who come from there type first, and what they are here.
enum CocoaNames {
    private static let globals: [(names: [String], here: String)] = [
        (["NSKeyedArchiver", "NSKeyedUnarchiver"], "archiver"),
        (["NSUserDefaults", "UserDefaults"], "defaults"),
        (["NSNotificationCenter", "NotificationCenter"], "notifications"),
        (["NSFileManager", "FileManager"], "fs"),
        (["NSBundle", "Bundle"], "bundle"),
        (["UIApplication"], "app"),
        (["NSHomeDirectory", "NSSearchPathForDirectoriesInDomains"], "app.container"),
        (["BNRItemStore", "ItemStore"], "items"),
        (["NSLog"], "print"),
    ]

    /// The bytes of the longest name that is looked at: comparing a text of a megabyte is not linear.
    private static let longest = 200

    /// The hint at what a global of Cocoa's is here; nil for another name.
    static func hint(forGlobal name: String) -> String? {
        guard name.utf8.count <= longest else { return nil }
        return globals.first { $0.names.contains(name) }.map { "; here it is \($0.here)" }
    }

    /// The event that a method of a delegate, or a notification, is for.
    ///
    /// - Parameters:
    ///   - name: `applicationDidEnterBackground:`, `UIApplicationDidEnterBackgroundNotification`.
    ///   - events: the events that there are.
    /// - Returns: the event; nil for another name.
    static func event(for name: String, among events: [String]) -> String? {
        guard name.utf8.count <= longest else { return nil }
        var word = String(name.prefix(while: { $0 != ":" && $0 != "(" }))
        if word.hasSuffix("Notification") { word.removeLast("Notification".count) }
        for beginning in ["UIApplication", "UIScene", "application", "scene"] where word.hasPrefix(beginning) {
            word.removeFirst(beginning.count)
            break
        }
        guard let first = word.first else { return nil }
        word = first.lowercased() + word.dropFirst()
        return word != name && events.contains(word) ? word : nil
    }
}
