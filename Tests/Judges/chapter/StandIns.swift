// What the chapter's lines of Swift name beside Foundation: UIKit's names, the book's classes, and the variables around a line.

import Foundation

class UIImage: NSObject {
    init?(contentsOfFile path: String) { nil }
    func jpegData(compressionQuality: Double) -> Data? { nil }
}

class UIApplication: NSObject {
    static let didReceiveMemoryWarningNotification = Notification.Name(
        "UIApplicationDidReceiveMemoryWarningNotification")
}

class UIScene: NSObject {
    class ConnectionOptions {}
}
class UISceneSession: NSObject {}

protocol UISceneDelegate: AnyObject {
    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions)
    func sceneDidDisconnect(_ scene: UIScene)
    func sceneDidBecomeActive(_ scene: UIScene)
    func sceneWillResignActive(_ scene: UIScene)
    func sceneWillEnterForeground(_ scene: UIScene)
    func sceneDidEnterBackground(_ scene: UIScene)
}

class Item: NSObject {
    var name = ""
    var serialNumber: String?
    var valueInDollars = 0
    let itemKey = UUID().uuidString
    init(name: String, serialNumber: String?, valueInDollars: Int) {}
    convenience init(random: Bool) { self.init(name: "", serialNumber: nil, valueInDollars: 0) }
}

class ItemStore {
    var allItems: [Item] = []
    let itemArchiveURL = URL(fileURLWithPath: "/items.archive")
    func createItem() -> Item { Item(random: true) }
    func saveChanges() {}
}

class Foo: NSObject, NSCopying {
    func copy(with zone: NSZone?) -> Any { Foo() }
}

func work() throws {}

/// Around a line.
class Context: NSObject {
    var item = Item(random: true), itemStore = ItemStore(), allItems: [Item] = []
    var name = "", valueInDollars = 0, foo = Foo(), foos: [Foo] = []
    let itemArchiveURL = URL(fileURLWithPath: "/items.archive"), url = URL(fileURLWithPath: "/file")
    let directory = URL(fileURLWithPath: "/"), data = Data(), key = "key"
    let cache = NSCache<NSString, UIImage>()
    var image: UIImage { fatalError() }
    var coder: NSCoder { fatalError() }
    var archiver: NSKeyedArchiver { fatalError() }
    var unarchiver: NSKeyedUnarchiver { fatalError() }
    var delegate: any UISceneDelegate { fatalError() }
    var error: NSError { fatalError() }
}
