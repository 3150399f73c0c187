/// The gallery's page, which needs only the files beside it.
enum GalleryPage {
    /// Marks a page of a gallery.
    static let marker = #"<meta name="generator" content="Cubby">"#

    /// - Parameter title: plain text.
    /// - Returns: the page.
    static func html(title: String) -> String {
        let title = escaped(title)
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

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
