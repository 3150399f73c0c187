import PropertyList

/// The gallery's page, which needs only the files beside it.
enum GalleryPage {
    /// Marks a page of a gallery.
    static let marker = #"<meta name="generator" content="Cubby">"#

    /// - Parameter title: plain text.
    /// - Returns: the page.
    static func html(title: String) -> String {
        let title = HTMLText.escaped(title)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            \(marker)
            <title>\(title)</title>
            <link rel="stylesheet" href="gallery.css">
            </head>
            <body>
            <header>
              <h1>\(title)</h1>
              <p id="count" role="status" aria-live="polite"></p>
              <form id="controls" role="search">
                <label>Search <input id="search" type="search" placeholder="words, or field:word" autocomplete="off"></label>
                <label>Sort by <select id="sort"></select></label>
                <button id="direction" type="button" aria-pressed="false" title="Turn the order round">↑</button>
                <label>Totals by <select id="group"></select></label>
              </form>
            </header>
            <figure id="totals" aria-label="Totals"><svg id="chart" role="img"></svg><figcaption id="caption"></figcaption></figure>
            <main id="cards" aria-label="Items"></main>
            <p id="more" hidden><button type="button">Show more</button></p>
            <dialog id="detail" aria-labelledby="detail-title"></dialog>
            <footer><kbd>/</kbd> search · <kbd>←</kbd> <kbd>↑</kbd> <kbd>↓</kbd> <kbd>→</kbd> move · <kbd>Enter</kbd> open · <kbd>Esc</kbd> close</footer>
            <script src="items.js"></script>
            <script src="gallery.js"></script>
            <noscript><p>This page finds and sorts with JavaScript, which is off.</p></noscript>
            </body>
            </html>

            """
    }
}

/// A field's value in `items.js`: dates as ISO 8601, and data as its length. Integers that a browser's numbers would
/// change are texts.
enum GalleryValue {
    /// - Returns: nil for values without a representation.
    static func of(_ value: PropertyListValue) -> PropertyListValue? {
        switch value {
        case .null, .uid: return nil
        case .string, .boolean: return value
        case .utf16: return .string(value.text ?? "")
        case .integer(let number): return number.magnitude > 1 << 53 ? .string(String(number)) : value
        case .wideInteger(let number): return .string(String(number))
        case .real(let number): return real(number)
        case .single(let number): return real(Double(number))
        case .date(let date): return .string(date.exchangeText)
        case .data(let bytes): return .string("\(bytes.count) bytes")
        case .array(let elements), .set(let elements): return .array(elements.map { of($0) ?? .null })
        case .dictionary(let entries):
            var object: PropertyListFields = [:]
            for (key, value) in entries.sortedEntries { object[key.keyText] = of(value) }
            return .fields(object)
        }
    }

    /// Whether a value is a number.
    static func isNumber(_ value: PropertyListValue) -> Bool {
        switch value {
        case .integer, .wideInteger, .real, .single: true
        default: false
        }
    }

    private static func real(_ number: Double) -> PropertyListValue {
        guard number.isFinite else { return .string("\(number)") }
        return Int64(exactly: number).map { .integer($0) } ?? .real(number)
    }
}

/// The gallery's style sheet: a grid that fits a phone and a wall, light and dark.
enum GalleryStyle {
    /// The first line of the style sheet, the first file of a gallery, which marks the folder.
    static let marker = "/* A gallery of Cubby's. */"

    static let css = """
        \(marker)
        :root {
          color-scheme: light dark;
          --ground: #f6f5f2; --card: #fff; --ink: #1d1d1f; --soft: #6b6b70; --line: #dedcd6; --accent: #0b63ce;
        }
        @media (prefers-color-scheme: dark) {
          :root { --ground: #161618; --card: #222226; --ink: #f2f2f4; --soft: #a2a2a9; --line: #3a3a40; --accent: #6ab0ff; }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.45 system-ui, sans-serif; }
        header { position: sticky; top: 0; z-index: 1; padding: .75rem 1rem; background: var(--ground); border-bottom: 1px solid var(--line); }
        h1 { display: inline; margin: 0 .75rem 0 0; font-size: 1.25rem; }
        #count { display: inline; color: var(--soft); }
        [hidden] { display: none !important; }
        #controls { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin-top: .5rem; }
        label { display: flex; flex-direction: column; font-size: .75rem; color: var(--soft); }
        label:first-child { flex: 1 1 14rem; }
        input, select, button { min-height: 2.5rem; padding: .3rem .6rem; font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
        select { max-width: 12rem; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
        #totals { margin: 1rem 1rem 0; padding: .75rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
        #chart { display: block; width: 100%; }
        #chart rect { fill: var(--accent); }
        #chart text { fill: var(--ink); font-size: 13px; }
        figcaption { color: var(--soft); font-size: .8rem; }
        #cards { display: grid; gap: .75rem; padding: 1rem; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); }
        .card { display: flex; flex-direction: column; min-width: 0; padding: 0; text-align: left; cursor: pointer; border-radius: .75rem; overflow: hidden; }
        .card img, .card .blank { width: 100%; height: auto; aspect-ratio: 1; object-fit: cover; background: var(--line); }
        .card .blank { display: grid; place-items: center; font-size: 2.5rem; color: var(--soft); }
        .card div.text { padding: .5rem .65rem .65rem; min-width: 0; }
        .card strong { display: block; overflow-wrap: anywhere; display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden; }
        .card span { color: var(--soft); font-size: .85rem; }
        #more { text-align: center; }
        #none { grid-column: 1 / -1; padding: 3rem 1rem; text-align: center; color: var(--soft); }
        dialog { width: min(56rem, 94vw); max-height: 92vh; padding: 0; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: .9rem; }
        dialog::backdrop { background: rgb(0 0 0 / 60%); }
        dialog img { display: block; max-width: 100%; max-height: 60vh; margin: 0 auto; }
        dialog .bar { display: flex; gap: .5rem; justify-content: space-between; padding: .6rem; }
        dialog h2 { margin: .75rem 1rem 0; font-size: 1.15rem; overflow-wrap: anywhere; }
        dialog dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .25rem 1rem; margin: .75rem 1rem 1rem; }
        dialog dt { color: var(--soft); }
        dialog dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
        footer { padding: 1rem; color: var(--soft); font-size: .85rem; text-align: center; }
        kbd { padding: 0 .35em; border: 1px solid var(--line); border-radius: .3em; background: var(--card); }
        @media (max-width: 30rem) {
          header { position: static; }
          #cards { grid-template-columns: repeat(2, minmax(0, 1fr)); padding: .75rem; }
          #totals { margin: .75rem .75rem 0; }
          select { max-width: 9rem; }
          footer { display: none; }
        }
        @page { margin: 15mm; }
        @media print {
          :root { color-scheme: light; --ground: #fff; --card: #fff; --ink: #1d1d1f; --soft: #6b6b70; --line: #dedcd6; --accent: #0b63ce; }
          body { font-size: 10pt; }
          header { position: static; padding: 0 0 .5rem; }
          #controls, footer, #more { display: none; }
          #totals { margin: .75rem 0 0; break-inside: avoid; }
          #cards { display: block; padding: .75rem 0 0; font-size: 0; }
          .card { display: inline-flex; width: 23%; margin: 0 1% .75rem; border-radius: 0; vertical-align: top; break-inside: avoid; font-size: 9pt; print-color-adjust: exact; }
          .card strong { display: block; }
        }

        """
}
