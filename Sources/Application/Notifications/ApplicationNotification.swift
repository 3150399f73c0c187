public import PropertyList

/// A notification, addressed to the observers of its name.
public struct ApplicationNotification {
    /// Cocoa's names.
    public enum Name {
        public static let didFinishLaunching = "UIApplicationDidFinishLaunchingNotification"
        public static let didBecomeActive = "UIApplicationDidBecomeActiveNotification"
        public static let willResignActive = "UIApplicationWillResignActiveNotification"
        public static let didEnterBackground = "UIApplicationDidEnterBackgroundNotification"
        public static let willEnterForeground = "UIApplicationWillEnterForegroundNotification"
        public static let willTerminate = "UIApplicationWillTerminateNotification"
        public static let didReceiveMemoryWarning = "UIApplicationDidReceiveMemoryWarningNotification"
        public static let defaultsDidChange = "NSUserDefaultsDidChangeNotification"
    }

    public let name: String
    /// The poster, or a value that a host in another language attaches.
    public let object: AnyObject?
    public let userInfo: [String: PropertyListValue]

    /// - Parameters:
    ///   - name: the name that observers register for.
    ///   - object: the poster.
    ///   - userInfo: the payload.
    public init(_ name: String, object: AnyObject? = nil, userInfo: [String: PropertyListValue] = [:]) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
    }
}
