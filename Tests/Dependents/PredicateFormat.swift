import PredicateFormat
import PropertyList

struct Lamp: PredicateRecord {
    var watts: Int64
    func value(forKey key: String) -> PropertyListValue? { key == "watts" ? .integer(watts) : nil }
}

print(try FormatPredicate(format: "watts > 10").evaluate(Lamp(watts: 40)) ? "ok" : "no")
