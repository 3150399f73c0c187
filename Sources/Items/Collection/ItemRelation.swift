public import ColumnEngine
import PredicateFormat
import PropertyList

/// A relation of models, by ids that one side has of the other; made by the functions of ``ItemModel``.
///
/// ```swift
/// for (film, director, screenings) in try await films.fetch(including: Film.director, Film.screenings) { … }
/// let some = try await films.fetch(where: Film.director == kurosawa)
/// ```
public struct ItemRelation<Source: ItemModel, Target: ItemModel, Value: Sendable>: Sendable {
    /// The other side's models for each of some models, in a store or a lenient part of it; nil for a model that a lenient
    /// collection leaves out, since it lacks one that it has to have.
    let load: @Sendable (LocalItemCollection<Source>, [Source]) throws(StoreError) -> [Value?]
    /// Whether a model is related to another.
    let relates: @Sendable (Target) -> ItemCondition<Source>
    /// The ids on this side; nil if the other side has them.
    let key: ForeignKey<Source, Target>?

    /// A relation by the ids on this side. `value` makes the value of the models found, nil if there are too few.
    init(
        _ key: ForeignKey<Source, Target>, _ value: @escaping @Sendable ([Target]) -> Value?
    ) {
        self.key = key
        relates = key.refers
        load = { (models, sources) throws(StoreError) in
            try key.check(models.store)
            let targets = LocalItemCollection<Target>(models.store)
            let (reader, idField) = (targets.reader(), targets.idField)
            let referred = sources.map(key.ids)
            let most = min(referred.reduce(0) { $0 + $1.count }, models.store.columns.count)
            // Each is decoded once.
            var places = Dictionary<ExactText, Int>(minimumCapacity: most)
            var known: [Target] = []
            var leftOut: Set<ExactText> = []
            var values: [Value?] = []
            for (source, ids) in zip(sources, referred) {
                var found: [Target] = []
                var lost: [(id: Target.ID, isThere: Bool)] = []
                for id in ids {
                    let text = ExactText(id.itemKey)
                    if let place = places[text] {
                        found.append(known[place])
                        continue
                    }
                    if !leftOut.contains(text) {
                        do throws(StoreError) {
                            if let target = try targets.model(ofID: text.string, in: idField, reader) {
                                places[text] = known.count
                                known.append(target)
                                found.append(target)
                                continue
                            }
                        } catch {
                            try models.leaveOut(error)
                            leftOut.insert(text)
                        }
                    }
                    guard models.onProblem != nil else { throw key.dangling(id, of: source) }
                    lost.append((id, leftOut.contains(text)))
                }
                let value = value(found)
                // Without a value the model is left out as a whole; else the items that do not decode were reported.
                if value == nil, lost.isEmpty { try models.leaveOut(key.dangling(nil, of: source), source, key) }
                for (id, isThere) in lost where value == nil || !isThere {
                    try models.leaveOut(
                        isThere ? key.undecodable(id, of: source) : key.dangling(id, of: source), source, key)
                }
                values.append(value)
            }
            return values
        }
    }

    /// The condition that a model is related to another.
    public static func == (relation: Self, target: Target) -> ItemCondition<Source> { relation.relates(target) }

    /// The declaration of the field with the ids, for ``ItemModel/declarations``.
    ///
    /// - Parameter more: what else is declared of it.
    /// - Returns: the declaration.
    public func declared(_ more: (inout FieldDeclaration) -> Void = { _ in }) -> FieldDeclaration {
        precondition(key != nil, "a relation of hasMany is declared on the other side")
        var declaration = key?.declaration ?? FieldDeclaration("")
        more(&declaration)
        return declaration
    }
}

extension ItemRelation where Value == [Target] {
    /// The other side of a relation.
    init<Inverse>(inverting relation: ItemRelation<Target, Source, Inverse>) {
        key = nil
        relates = { target in
            guard let foreign = relation.key else { return ItemCondition(.constant(false), []) }
            return ItemAttribute<Source, Source.ID>(ModelProbe.keyName(of: \Source.id), \.id).isAmong(
                foreign.ids(target))
        }
        load = { (models, sources) throws(StoreError) in
            guard let foreign = relation.key else { return sources.map { _ in [] } }
            try foreign.check(models.store)
            var places: [ExactText: Int] = [:]
            var groups: [[Target]] = []
            let own = sources.map { source in
                let id = ExactText(source.id.itemKey)
                if let place = places[id] { return place }
                places[id] = groups.count
                groups.append([])
                return groups.count - 1
            }
            // All at once, unless few are wanted: an index or a scan of one column finds those.
            let condition = sources.count <= Self.few ? foreign.among(sources.map(\.id)) : nil
            let coding = LocalItemCollection<Target>(models.store).coding
            let targets = LocalItemCollection<Target>(models.store, coding, models.onProblem)
            for target in try targets.fetch(where: condition) {
                let ids = foreign.ids(target)
                if ids.count == 1 {
                    if let place = places[ExactText(ids[0].itemKey)] { groups[place].append(target) }
                    continue
                }
                // One that has an id several times is related once.
                for id in Set(ids.map { ExactText($0.itemKey) }) {
                    if let place = places[id] { groups[place].append(target) }
                }
            }
            return own.map { groups[$0] }
        }
    }

    private static var few: Int { 64 }
}

/// The property with the ids of other models.
struct ForeignKey<Source: ItemModel, Target: ItemModel>: Sendable {
    let declaration: FieldDeclaration
    /// Why the property has no name; nil if it has one.
    let problem: StoreError?
    let ids: @Sendable (Source) -> [Target.ID]
    let refers: @Sendable (Target) -> ItemCondition<Source>
    /// The condition that one of some ids is in the property; nil if that is no comparison.
    let among: @Sendable ([Target.ID]) -> ItemCondition<Source>?

    init<Value>(
        _ attribute: ItemAttribute<Source, Value>, _ rule: FieldDeclaration.DeleteRule,
        ids: @escaping @Sendable (Source) -> [Target.ID], refers: @escaping @Sendable (Target) -> ItemCondition<Source>,
        among: @escaping @Sendable ([Target.ID]) -> ItemCondition<Source>?
    ) {
        declaration = attribute.declared { $0.references = FieldDeclaration.Reference(Target.itemKind, onDelete: rule) }
        (problem, self.ids, self.refers, self.among) = (attribute.problem, ids, refers, among)
    }

    /// Refuses a relation that is not among its model's declarations: the store would not keep to its rule.
    func check(_ store: ItemStore) throws(StoreError) {
        if let problem { throw problem }
        if Source.declarations.contains(where: { $0.name == declaration.name && $0.references != nil }) { return }
        throw StoreError(
            .unknownField(declaration.name),
            "the relation by \(declaration.name) is not declared: \(Source.self).declarations has it as declared()")
    }

    /// The error of an id whose item does not decode.
    func undecodable(_ id: Target.ID, of source: Source) -> StoreError {
        StoreError(
            .invalidValue(field: declaration.name),
            "\(declaration.name) is the id \(id.itemKey) in the \(Source.itemKind) \(source.id.itemKey), and this "
                + "\(Target.itemKind) does not decode")
    }

    /// The error of an id that no item has; of none where one is expected, if nil.
    func dangling(_ id: Target.ID?, of source: Source) -> StoreError {
        let what = id.map { "\(declaration.name) is the id \($0.itemKey)" } ?? "\(declaration.name) is none"
        return StoreError(
            .invalidValue(field: declaration.name),
            "\(what) in the \(Source.itemKind) \(source.id.itemKey), and there is no such \(Target.itemKind)")
    }
}

extension ItemAttribute where Value: ItemIdentifier {
    fileprivate func isAmong(_ ids: [Value]) -> ItemCondition<Model> {
        condition(.in, .array(ids.compactMap(\.fieldValue)))
    }
}

extension LocalItemCollection where Model: ItemModel {
    /// The models that satisfy a condition, in order, each with those that it is related to.
    ///
    /// ```swift
    /// for (film, director, screenings) in try films.fetch(including: Film.director, Film.screenings) { … }
    /// ```
    ///
    /// - Parameters:
    ///   - relation: the first relation.
    ///   - relations: further ones.
    ///   - condition: selects the models; all if nil.
    ///   - orders: the sort criteria, the most significant first; the store's order if empty.
    ///   - limit: the maximum number of models.
    ///   - offset: the number of models to skip first.
    /// - Returns: tuples of the model and what each relation has: a model, an optional one, or an array. A collection with
    ///   `onProblem` leaves out related items that do not decode and ids that no item has, and reports them; so it does with
    ///   a model that has to have the one that is left out, which counts for `limit` and `offset` all the same.
    /// - Throws: as ``fetch(where:sortedBy:limit:offset:)``; `invalidValue` for an id that no item has.
    /// - Complexity: a look-up by key for each id, and a decoding for each related model; for `hasMany` one pass over the
    ///   other side.
    public func fetch<Target, Value, each OtherTarget, each OtherValue>(
        including relation: ItemRelation<Model, Target, Value>,
        _ relations: repeat ItemRelation<Model, each OtherTarget, each OtherValue>,
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = [], limit: Int? = nil,
        offset: Int = 0
    ) throws(StoreError) -> [(Model, Value, repeat each OtherValue)] {
        let models = try fetch(where: condition, sortedBy: orders, limit: limit, offset: offset)
        let first = try relation.load(self, models)
        let further = (repeat try (each relations).load(self, models))
        var results: [(Model, Value, repeat each OtherValue)] = []
        for place in models.indices {
            guard let value = first[place] else { continue }
            do throws(LeftOut) {
                results.append((models[place], value, repeat try Self.present((each further)[place])))
            } catch {}
        }
        return results
    }

    /// A model without one that it has to have.
    private struct LeftOut: Error {}

    private static func present<Value>(_ value: Value?) throws(LeftOut) -> Value {
        guard let value else { throw LeftOut() }
        return value
    }

    /// Reports an item that does not decode, or a model whose relation leads to none, if the collection is lenient.
    ///
    /// - Throws: the problem if it is not.
    fileprivate func leaveOut(_ problem: StoreError) throws(StoreError) {
        guard let onProblem, let error = problem.cause as? ItemModelError else { throw problem }
        onProblem(error)
    }

    /// The same of a model's property with ids.
    fileprivate func leaveOut<Target>(
        _ problem: StoreError, _ source: Model, _ key: ForeignKey<Model, Target>
    ) throws(StoreError) {
        guard let onProblem, let row = row(ofID: source.id.itemKey) else { throw problem }
        let itemKey = store.columns.keyString(row)
        onProblem(ItemModelError(itemKey: itemKey, field: key.declaration.name, message: problem.message))
    }
}

extension ItemCollection where Model: ItemModel {
    /// The models that satisfy a condition, in order, each with those that it is related to; see
    /// ``LocalItemCollection/fetch(including:_:where:sortedBy:limit:offset:)``.
    public func fetch<Target, Value, each OtherTarget, each OtherValue>(
        including relation: ItemRelation<Model, Target, Value>,
        _ relations: repeat ItemRelation<Model, each OtherTarget, each OtherValue>,
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = [], limit: Int? = nil,
        offset: Int = 0
    ) async throws(StoreError) -> [(Model, Value, repeat each OtherValue)] {
        try await local { (models) throws(StoreError) in
            try models.fetch(
                including: relation, repeat each relations, where: condition, sortedBy: orders, limit: limit,
                offset: offset)
        }
    }
}
