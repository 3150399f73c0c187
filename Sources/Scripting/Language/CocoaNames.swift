/// The names of Cocoa's that those who come from there type first, and what they are here.
enum CocoaNames {
    private static let globals: [(names: [String], here: String)] = [
        (["NSKeyedArchiver", "NSKeyedUnarchiver"], "archiver"),
        (["NSUserDefaults", "UserDefaults"], "defaults"),
        (["NSNotificationCenter", "NotificationCenter"], "notifications"),
        (["NSFileManager", "FileManager"], "fs"),
        (["NSBundle", "Bundle"], "bundle"),
        (["UIApplication"], "app"),
        (["UIImage"], "image"),
        (["NSHomeDirectory", "NSSearchPathForDirectoriesInDomains"], "app.container"),
        (["BNRItemStore", "ItemStore"], "items"),
        (["NSLog"], "print"),
    ]

    /// Members of the objects that take the place of Cocoa's, and of the book's store.
    private static let members: [(owner: String, names: [String], here: String)] = [
        ("items", ["count"], "#items"),
        ("items", ["privateItems"], "items.allItems"),
        ("items", ["objectAtIndex", "first", "firstObject"], "items[1], counted from 1"),
        ("items", ["addObject", "addItem"], "createItem"),
        ("items", ["sharedStore", "shared"], "items itself"),
        ("app", ["sharedApplication", "shared"], "app itself"),
        ("bundle", ["mainBundle", "main"], "bundle itself"),
        ("notifications", ["defaultCenter", "default"], "notifications itself"),
        ("defaults", ["standardUserDefaults", "standard"], "defaults itself"),
        (
            "defaults",
            [
                "objectForKey", "valueForKey", "stringForKey", "integerForKey", "boolForKey", "floatForKey",
                "doubleForKey", "arrayForKey", "dictionaryForKey", "dataForKey",
            ], "get"
        ),
    ]

    /// The bytes of the longest name that is looked at: comparing a text of a megabyte is not linear.
    private static let longest = 200

    /// The hint at what a global of Cocoa's is here; nil for another name.
    static func hint(forGlobal name: String) -> String? {
        guard name.utf8.count <= longest else { return nil }
        return globals.first { $0.names.contains(name) }.map { "; here it is \($0.here)" }
    }

    /// The hint at what a member of Cocoa's is here; nil for another name.
    static func hint(forMember name: String, of owner: String) -> String? {
        guard name.utf8.count <= longest else { return nil }
        let word = String(name.prefix(while: { $0 != ":" && $0 != "(" }))
        return members.first { $0.owner == owner && $0.names.contains(word) }.map { "; here it is \($0.here)" }
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
