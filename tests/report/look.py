# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Uses a report as a person would, in a real browser, and prints what there was to see, as JSON.

usage: look.py BROWSER PAGE [PICTURES]
Writes pictures (light, dark, print, on a phone, a tooltip, zoomed in) to the folder PICTURES if it is named.
"""

import json
import pathlib
import sys

from playwright.sync_api import sync_playwright

INJECT = """() => {
  const script = document.createElement("script");
  script.textContent = "window.injected = true";
  document.body.append(script);
  const style = document.createElement("style");
  style.textContent = "body { display: none }";
  document.head.append(style);
  document.body.insertAdjacentHTML("beforeend", "<img src='data:,' onerror='window.injected = true'>");
  return [window.injected === true, getComputedStyle(document.body).display];
}"""


def watch(page, seen):
    page.on("console", lambda message: seen["console"].append(message.text))
    page.on("pageerror", lambda error: seen["errors"].append(str(error)))
    page.on("request", lambda request: seen["requests"].append(request.url))
    page.on("dialog", lambda dialog: count_dialog(dialog, seen))


def count_dialog(dialog, seen):
    seen["dialogs"] += 1
    dialog.dismiss()


def picture(page, folder, name, **options):
    if folder:
        page.screenshot(path=str(folder / f"{name}.png"), **options)


def tooltip(page, element, x, y):
    """The text of the tooltip at a place of an element, in shares of its size."""
    element.scroll_into_view_if_needed()
    # Scrolling hides the tooltip; its event comes with a frame.
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    box = element.bounding_box()
    page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    tip = page.locator("#tooltip")
    return tip.inner_text() if tip.is_visible() else ""


def hover_everything(page, folder, seen):
    seen["memory_tip"] = tooltip(page, page.locator("#memory svg").first, 0.4, 0.5)
    picture(page, folder, "tooltip")
    seen["lane_tip"] = tooltip(page, page.locator("#lanes svg").first, 0.4, 0.3)
    if page.locator("#prices circle.hot").count():
        seen["price_tip"] = tooltip(page, page.locator("#prices circle.hot").first, 0.5, 0.5)
    page.mouse.move(2, 2)
    seen["tip_is_gone"] = not page.locator("#tooltip").is_visible()


def zoom(page, folder, seen):
    level = lambda: float(page.evaluate("document.documentElement.dataset.zoom"))  # noqa: E731
    chart = page.locator("#memory svg").first
    chart.scroll_into_view_if_needed()
    labels = chart.locator("text").all_inner_texts()
    box = chart.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.4 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], y, steps=4)
    page.mouse.up()
    seen["zoom_by_drag"] = level()
    seen["axis_changed"] = chart.locator("text").all_inner_texts() != labels
    picture(page, folder, "zoomed")
    page.locator("#zoom-in").click()
    seen["zoom_by_button"] = level()
    chart.dblclick()
    seen["zoom_reset"] = level()
    chart.focus()
    page.keyboard.press("+")
    seen["zoom_by_key"] = level()
    page.locator("#zoom-reset").click()


def charts(page):
    """By the word before the colon of its title: of each chart of memory to be seen, what is written at its peak."""
    shown = [chart for chart in page.locator("#memory svg").all() if chart.is_visible()]
    return {chart.locator("text.title").text_content().partition(":")[0]: chart.locator("text.strong").text_content()
            for chart in shown if chart.locator("path.k4").count()}


def use_controls(page, seen):
    seen["charts"] = charts(page)
    seen["shown_by"] = {}
    # Backwards, so that all of them are there again in the end.
    for button in reversed(page.locator("button[data-show]").all()):
        button.click()
        seen["shown_by"][button.get_attribute("data-show")] = list(charts(page))
    paths = page.locator("#memory svg").first.locator("path")
    before = paths.count()
    page.locator(".legend button").first.click()
    seen["kind_can_be_hidden"] = paths.count() < before
    page.locator(".legend button").first.click()


def sort_and_filter(page, seen):
    rows = page.locator("#storage-table tbody tr")
    seen["storages"] = [row.locator("td").all_inner_texts() for row in rows.all()]
    head = page.locator("#storage-table th", has_text="size")
    head.click()
    first = rows.first.locator("td").nth(3).inner_text()
    seen["sorted"] = head.get_attribute("aria-sort")
    head.click()
    seen["sorted_again"] = head.get_attribute("aria-sort")
    seen["sort_changes_rows"] = rows.first.locator("td").nth(3).inner_text() != first
    count = rows.count()
    page.locator("#storages input").fill("no such name anywhere")
    seen["filter_leaves"] = rows.count()
    page.locator("#storages input").fill("")
    seen["rows"] = count


def change_theme(page, seen):
    colour = lambda: page.evaluate("getComputedStyle(document.documentElement).backgroundColor")  # noqa: E731
    seen["themes"] = [colour()]
    for _ in range(3):
        page.locator("#theme").click()
        seen["themes"].append(colour())


def look(browser, path, folder):
    seen = {"console": [], "errors": [], "requests": [], "dialogs": 0}
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    watch(page, seen)
    page.goto(path.as_uri())
    seen["title"] = page.title()
    seen["heading"] = page.locator("h1").inner_text()
    seen["basis"] = page.locator("#basis").inner_text()
    seen["cards"] = dict(card.inner_text().splitlines()[:2] for card in page.locator(".card").all())
    seen["sections"] = [section.get_attribute("id") for section in page.locator("section").all()]
    seen["images"] = page.locator("img").count()
    seen["scripts"] = page.locator("script").count()
    picture(page, folder, "light", full_page=True)
    hover_everything(page, folder, seen)
    zoom(page, folder, seen)
    use_controls(page, seen)
    sort_and_filter(page, seen)
    change_theme(page, seen)
    seen["console_before_injection"] = len(seen["console"])
    seen["injected"], seen["display"] = page.evaluate(INJECT)
    page.close()

    phone = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="light")
    watch(phone, seen)
    phone.goto(path.as_uri())
    seen["phone_width"] = phone.evaluate("document.documentElement.scrollWidth")
    picture(phone, folder, "phone", full_page=True)
    phone.close()

    dark = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="dark")
    watch(dark, seen)
    dark.goto(path.as_uri())
    seen["dark"] = dark.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    picture(dark, folder, "dark", full_page=True)
    dark.emulate_media(media="print")
    seen["print"] = dark.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    seen["print_hides_controls"] = not dark.locator(".controls").first.is_visible()
    picture(dark, folder, "print", full_page=True)
    pdf = dark.pdf(format="A4")
    seen["pdf_bytes"] = len(pdf)
    if folder:
        (folder / "print.pdf").write_bytes(pdf)
    return seen


def main():
    folder = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=sys.argv[1], args=["--no-sandbox"])
        print(json.dumps(look(browser, pathlib.Path(sys.argv[2]).resolve(), folder)))
        browser.close()


if __name__ == "__main__":
    main()
