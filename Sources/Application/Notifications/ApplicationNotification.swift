public import PropertyList

/// A notification, addressed to the observers of its name.
public struct ApplicationNotification {
    /// Cocoa's names.
    public enum Name {
        /// After the launch, before the first event.
        public static let didFinishLaunching = "UIApplicationDidFinishLaunchingNotification"
        /// The application receives events.
        public static let didBecomeActive = "UIApplicationDidBecomeActiveNotification"
        /// The application is about to receive no events.
        public static let willResignActive = "UIApplicationWillResignActiveNotification"
        /// The application is in the background, where it may be stopped.
        public static let didEnterBackground = "UIApplicationDidEnterBackgroundNotification"
        /// The application is about to leave the background.
        public static let willEnterForeground = "UIApplicationWillEnterForegroundNotification"
        /// The process is about to end.
        public static let willTerminate = "UIApplicationWillTerminateNotification"
        /// Memory is short.
        public static let didReceiveMemoryWarning = "UIApplicationDidReceiveMemoryWarningNotification"
        /// A default has another value.
        public static let defaultsDidChange = "NSUserDefaultsDidChangeNotification"
    }

    /// The name, by which observers are chosen.
    public let name: String
    /// The poster, or a value that a host in another language attaches.
    public let object: AnyObject?
    /// Further details, by key.
    public let userInfo: PropertyListFields

    /// - Parameters:
    ///   - name: the name that observers register for.
    ///   - object: the poster.
    ///   - userInfo: the payload.
    public init(_ name: String, object: AnyObject? = nil, userInfo: PropertyListFields = [:]) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
    }
}
