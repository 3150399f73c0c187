public import PropertyList

/// A message to whoever observes its name.
public struct ApplicationNotification {
    /// Names that Cocoa gives.
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
    /// Who posts it; what a host in another language carries along goes here, too.
    public let object: AnyObject?
    public let userInfo: [String: PropertyListValue]

    /// - Parameters:
    ///   - name: what observers ask for.
    ///   - object: who posts it.
    ///   - userInfo: what there is to say.
    public init(_ name: String, object: AnyObject? = nil, userInfo: [String: PropertyListValue] = [:]) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
    }
}
