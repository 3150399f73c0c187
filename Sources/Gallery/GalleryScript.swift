/// The gallery's script. `items.js` before it has set `gallery` to the fields and the items.
enum GalleryScript {
    static let javaScript = #"""
        "use strict";
        (() => {
          const { fields, items } = window.gallery;
          // The fields of amounts: they have two decimals, and more only if two would be another number.
          const amounts = new Set(window.gallery.money ?? []);
          // A field may have the name of a member of every object: toString, __proto__.
          for (const item of items) item.values = new Map(Object.entries(item.values));
          const byId = (id) => document.getElementById(id);
          const cards = byId("cards"), detail = byId("detail"), more = byId("more"), search = byId("search");
          const sort = byId("sort"), direction = byId("direction"), group = byId("group");
          const step = 120, money = "valueInDollars", titleField = window.gallery.title || "name";
          // The field that is summed; undefined if no item has a value.
          const valueField = window.gallery.value;
          let shown = [], drawn = 0, current = 0, descending = false;

          // Only text is inserted: items are never parsed as HTML.
          const element = (name, attributes = {}, ...children) => {
            const node = document.createElement(name);
            for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
            node.append(...children);
            return node;
          };
          const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
          const grouped = (number) => Number(number).toLocaleString("en-US", { maximumFractionDigits: 20 });
          const isDay = (text) => typeof text === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text);
          const commas = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");
          const dollars = (text) => text.startsWith("-") ? "-$" + text.slice(1) : "$" + text;
          // Sums are exact: digits, so many of them behind the point. An item without a number is not in them.
          const zero = { digits: 0n, places: 0 };
          const worth = (item) => {
            if (item.worth === undefined) return undefined;
            const [mantissa, exponent = "0"] = item.worth.split("e"), [whole, fraction = ""] = mantissa.split(".");
            const places = fraction.length - Number(exponent), digits = BigInt(whole + fraction);
            return places < 0 ? { digits: digits * 10n ** BigInt(-places), places: 0 } : { digits, places };
          };
          const plus = (a, b) => {
            const places = Math.max(a.places, b.places);
            const digits = (sum) => sum.digits * 10n ** BigInt(places - sum.places);
            return { digits: digits(a) + digits(b), places };
          };
          const size = (sum) => Number(sum.digits) / 10 ** sum.places;
          const amount = (sum) => {
            const digits = String(sum.digits < 0n ? -sum.digits : sum.digits).padStart(sum.places + 1, "0");
            const end = digits.length - sum.places;
            let fraction = digits.slice(end).replace(/0+$/, "");
            if (fraction || amounts.has(valueField)) fraction = fraction.padEnd(2, "0");
            const text = (sum.digits < 0n ? "-" : "") + commas(digits.slice(0, end)) + (fraction ? "." + fraction : "");
            return valueField === money ? dollars(text) : text;
          };
          const said = (value, field) => {
            if (value === undefined || value === null) return "";
            if (typeof value === "number" && amounts.has(field))
              return Number(value.toFixed(2)) === value ? value.toFixed(2) : String(value);
            if (typeof value === "number") return field === money ? dollars(grouped(value)) : String(value);
            if (field === money && /^-?\d+$/.test(value)) return dollars(commas(value));
            if (isDay(value)) return value.endsWith("T00:00:00Z") ? value.slice(0, 10) : value.slice(0, 16).replace("T", " ") + (value.endsWith(":00Z") ? "" : "…");
            if (Array.isArray(value)) return value.map((one) => said(one)).join(", ");
            return typeof value === "object" ? JSON.stringify(value) : String(value);
          };
          const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
          const compare = (a, b) =>
            typeof a === "number" && typeof b === "number" ? a - b : collator.compare(said(a), said(b));
          // The order of each field is computed once, and typing filters it. Items without the field come last in both
          // directions.
          const orders = new Map();
          const ordered = (field) => {
            if (!field) return descending ? items.slice().reverse() : items;
            if (!orders.has(field)) {
              const has = items.filter((item) => item.values.get(field) !== undefined);
              has.sort((a, b) => compare(a.values.get(field), b.values.get(field)));
              orders.set(field, [has, items.filter((item) => item.values.get(field) === undefined)]);
            }
            const [has, lacks] = orders.get(field);
            return (descending ? has.slice().reverse() : has).concat(lacks);
          };
          for (const item of items) {
            item.text = fold(fields.map((field) => said(item.values.get(field), field)).join("\n"));
          }

          // A word, field:word, or either part in quotes with blanks.
          const unquoted = (text) => text.replace(/"([^"]*)"/g, "$1");
          const conditions = (text) => (fold(text).match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => {
            const [, name, part] = /^("[^"]*"|[^":]+):(.*)$/s.exec(word) ?? [];
            const named = name ? fields.filter((one) => fold(one) === unquoted(name)) : [];
            return named.length ? { named, part: unquoted(part) } : { part: unquoted(word) };
          });
          const matches = (item, words) => words.every(({ named, part }) => named
            ? named.some((field) => fold(said(item.values.get(field), field)).includes(part)) : item.text.includes(part));

          function update() {
            const words = conditions(search.value);
            const all = ordered(sort.value);
            shown = words.length ? all.filter((item) => matches(item, words)) : all;
            const total = shown.reduce((sum, item) => plus(sum, worth(item) ?? zero), zero);
            const misfits = shown.filter((item) => item.worth === undefined && item.values.has(valueField)).length;
            byId("count").textContent =
              `${grouped(shown.length)} of ${grouped(items.length)} items` + (valueField ? ` · ${amount(total)}` : "")
              + (misfits ? ` · ${grouped(misfits)} ${misfits === 1 ? "item" : "items"} not in the totals` : "");
            cards.replaceChildren();
            drawn = 0;
            if (!shown.length) cards.append(element("p", { id: "none" }, items.length
              ? "Nothing matches. Fewer words find more."
              : "There are no items yet. Make some with items:createItem{ name = \"Lamp\" }, give them pictures, and write this page anew."));
            byId("controls").hidden = !items.length;
            draw();
            chart();
          }

          function draw() {
            for (const item of shown.slice(drawn, drawn + step)) cards.append(card(item, drawn++));
            more.hidden = drawn >= shown.length;
          }

          function card(item, index) {
            const name = said(item.values.get(titleField)) || "(no name)";
            const picture = item.thumbnail
              ? element("img", { src: item.thumbnail, alt: "", loading: "lazy", width: 240, height: 240 })
              : element("div", { class: "blank", "aria-hidden": "true" }, name.slice(0, 1).toUpperCase());
            const shownField = valueField ?? money;
            const value = [said(item.values.get(shownField), shownField), said(item.values.get("serialNumber"))].filter(Boolean).join(" · ");
            const node = element("button", { class: "card", type: "button", "data-index": index }, picture,
              element("div", { class: "text" }, element("strong", {}, name), element("span", {}, value)));
            node.addEventListener("click", () => open(index));
            return node;
          }

          function open(index) {
            current = Math.max(0, Math.min(index, shown.length - 1));
            const item = shown[current];
            const list = element("dl");
            for (const field of fields) {
              const text = said(item.values.get(field), field);
              if (text) list.append(element("dt", {}, field), element("dd", {}, text));
            }
            const button = (label, text, action) => {
              const node = element("button", { type: "button", "aria-label": label, title: label }, text);
              node.addEventListener("click", action);
              return node;
            };
            detail.replaceChildren(
              element("div", { class: "bar" }, button("Previous", "←", () => open(current - 1)),
                button("Close", "Close", () => detail.close()), button("Next", "→", () => open(current + 1))),
              ...[item.picture, ...(item.others || [])].filter(Boolean)
                .map((picture) => element("img", { src: picture, alt: said(item.values.get(titleField)) })),
              ...(item.lacks || []).map((text) => element("p", { class: "lack" }, text)),
              element("h2", { id: "detail-title" }, said(item.values.get(titleField)) || "(no name)"), list);
            if (!detail.open) detail.showModal();
          }

          // The largest groups of one field, as bars.
          function chart() {
            const svg = byId("chart"), field = group.value, sums = new Map();
            const hasMoney = shown.some((item) => worth(item)?.digits);
            let hasSeveral = false;
            for (const item of shown) {
              // An item with several values counts for each.
              const value = item.values.get(field), values = Array.isArray(value) && value.length ? value : [value];
              const keys = new Set(values.map((one) => isDay(one) ? one.slice(0, 4) : said(one, field) || "(none)"));
              hasSeveral ||= keys.size > 1;
              const one = hasMoney ? worth(item) ?? zero : { digits: 1n, places: 0 };
              for (const key of keys) sums.set(key, plus(sums.get(key) ?? zero, one));
            }
            const bars = [...sums].map(([label, sum]) => [label, size(sum), hasMoney ? amount(sum) : grouped(size(sum))])
              .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 8);
            byId("totals").hidden = !field || !bars.length;
            const width = svg.clientWidth || 320, row = 24, left = Math.min(180, width * 0.36), right = 92;
            const least = Math.min(...bars.map((bar) => bar[1]), 0), most = Math.max(...bars.map((bar) => bar[1]), 0);
            const scale = (width - left - right) / (most - least || 1), origin = left - least * scale;
            const shape = (name, attributes, text) => {
              const node = document.createElementNS("http://www.w3.org/2000/svg", name);
              for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
              if (text !== undefined) node.textContent = text;
              return node;
            };
            svg.setAttribute("height", bars.length * row);
            svg.setAttribute("viewBox", `0 0 ${width} ${bars.length * row}`);
            svg.setAttribute("aria-label", bars.map((bar) => `${bar[0]}: ${bar[2]}`).join("; "));
            svg.replaceChildren(...bars.flatMap(([label, sum, text], index) => {
              const room = Math.floor(left / 7.5), name = label.length > room ? label.slice(0, room - 1) + "…" : label;
              const length = Math.max(2, Math.abs(sum) * scale), start = sum < 0 ? origin - length : origin;
              const middle = index * row + 16;
              return [
                shape("text", { x: left - 8, y: middle, "text-anchor": "end" }, name),
                shape("rect", { x: start, y: index * row + 3, width: length, height: row - 7, rx: 3 }),
                shape("text", { x: (sum < 0 ? origin : origin + length) + 6, y: middle }, text),
              ];
            }));
            byId("caption").textContent =
              `${!hasMoney ? "Items" : valueField === money ? "Dollars" : valueField} by ${field}`
              + (sums.size > bars.length ? `, the ${bars.length} largest of ${grouped(sums.size)}` : "")
              + (hasSeveral ? "; items with several values count for each" : "");
          }

          function move(by) {
            const all = [...cards.querySelectorAll(".card")];
            const from = all.indexOf(document.activeElement);
            const next = all[Math.max(0, Math.min(from < 0 ? 0 : from + by, all.length - 1))];
            if (from + by >= all.length && drawn < shown.length) { draw(); return move(by); }
            if (next) next.focus();
          }

          function columns() {
            const tops = [...cards.querySelectorAll(".card")].map((node) => node.offsetTop);
            return Math.max(1, tops.filter((top) => top === tops[0]).length);
          }

          document.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            const isTyping = /^(INPUT|SELECT)$/.test(document.activeElement.tagName);
            const key = event.key;
            if (detail.open) {
              if (key === "ArrowLeft") open(current - 1); else if (key === "ArrowRight") open(current + 1); else return;
            } else if (key === "/" && !isTyping) { search.focus(); search.select(); }
            else if (key === "Escape" && document.activeElement === search) { search.value = ""; update(); }
            else if (key === "ArrowDown" && document.activeElement === search) move(0);
            else if (isTyping) return;
            else if (key === "ArrowRight") move(1);
            else if (key === "ArrowLeft") move(-1);
            else if (key === "ArrowDown") move(columns());
            else if (key === "ArrowUp") move(-columns());
            else return;
            event.preventDefault();
          });
          detail.addEventListener("close", () => {
            const node = cards.querySelector(`[data-index="${current}"]`);
            if (node) node.focus();
          });
          detail.addEventListener("click", (event) => { if (event.target === detail) detail.close(); });

          sort.append(element("option", { value: "" }, "store order"), ...fields.map((field) => element("option", { value: field }, field)));
          const few = (field) => {
            const values = new Set(items.map((item) => isDay(item.values.get(field)) ? item.values.get(field).slice(0, 4) : said(item.values.get(field))));
            return values.size > 1 && values.size <= Math.max(12, items.length / 2);
          };
          const groups = fields.filter((field) => field !== money && field !== valueField && field !== "itemKey" && field !== titleField && few(field));
          // Without a grouping field the chart shows the most valuable items.
          if (!groups.length && items.length > 1 && valueField) groups.push(titleField);
          group.append(...groups.map((field) => element("option", { value: field }, field)));
          if (!groups.length) group.parentElement.hidden = true;
          if (groups.includes("room")) group.value = "room";
          byId("controls").addEventListener("submit", (event) => event.preventDefault());
          search.addEventListener("input", update);
          sort.addEventListener("change", update);
          group.addEventListener("change", chart);
          direction.addEventListener("click", () => {
            descending = !descending;
            direction.textContent = descending ? "↓" : "↑";
            direction.setAttribute("aria-pressed", String(descending));
            update();
          });
          more.firstElementChild.addEventListener("click", draw);
          if ("IntersectionObserver" in window) {
            new IntersectionObserver((seen) => { if (seen[0].isIntersecting && drawn < shown.length) draw(); }, { rootMargin: "600px" }).observe(more);
          }
          window.addEventListener("resize", chart);
          // On paper there is no scrolling: all cards are drawn.
          window.addEventListener("beforeprint", () => {
            while (drawn < shown.length) draw();
            for (const picture of cards.querySelectorAll("img")) picture.loading = "eager";
            chart();
          });
          update();
        })();

        """#
}
