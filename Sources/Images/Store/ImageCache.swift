/// A cache of pictures by key, which removes the least recently used ones beyond its limit. Each operation is O(1).
struct ImageCache {
    private struct Node {
        var key: String
        var image: Image
        var newer: Int?
        var older: Int?
    }

    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var places: [String: Int] = [:]
    private var newest: Int?
    private var oldest: Int?

    /// The number of pictures.
    var count: Int { places.count }

    /// Their size in bytes.
    private(set) var cost = 0

    /// Maximum size in bytes.
    var limit: Int {
        didSet { trim() }
    }

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns the picture of a key and marks it as the most recently used.
    mutating func image(forKey key: String) -> Image? {
        guard let place = places[key], let node = nodes[place] else { return nil }
        unlink(place)
        linkAsNewest(place)
        return node.image
    }

    /// Returns the picture of a key without marking it.
    func peek(_ key: String) -> Image? { places[key].flatMap { nodes[$0]?.image } }

    /// Stores a picture as the most recently used one, unless it is larger than the limit.
    mutating func insert(_ image: Image, forKey key: String) {
        remove(key)
        let node = Node(key: key, image: image)
        let place: Int
        if let unused = free.popLast() {
            place = unused
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
        }
        places[key] = place
        cost += image.byteCount
        linkAsNewest(place)
        trim()
    }

    mutating func remove(_ key: String) {
        guard let place = places.removeValue(forKey: key), let node = nodes[place] else { return }
        cost -= node.image.byteCount
        unlink(place)
        nodes[place] = nil
        free.append(place)
    }

    mutating func removeAll() {
        self = ImageCache(limit: limit)
    }

    private mutating func trim() {
        while cost > limit, let place = oldest, let node = nodes[place] { remove(node.key) }
    }

    private mutating func unlink(_ place: Int) {
        guard let node = nodes[place] else { return }
        if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
        if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
        nodes[place]?.newer = nil
        nodes[place]?.older = nil
    }

    private mutating func linkAsNewest(_ place: Int) {
        nodes[place]?.older = newest
        if let newest { nodes[newest]?.newer = place } else { oldest = place }
        newest = place
    }
}
