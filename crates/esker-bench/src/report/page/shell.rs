//! A whole page around its sections: head, style, and nothing from anywhere else.

use crate::report::chart::paint::escape;
use crate::report::chart::style;

/// Layout and letters of every page. Phones are 360 pixels wide and more; two drawings stand side
/// by side where both have room.
const LAYOUT: &str = "\
*{box-sizing:border-box}\
body{margin:0 auto;padding:40px 24px 72px;max-width:1088px;background:var(--paper);\
color:var(--ink);font:15px/1.55 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;\
font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%;overflow-wrap:anywhere}\
h1{font-size:28px;line-height:1.2;letter-spacing:-.01em;margin:0 0 6px;font-weight:650}\
h2{font-size:19px;margin:56px 0 4px;font-weight:650}\
h3{font-size:15px;margin:28px 0 4px;font-weight:600}\
p{color:var(--soft);margin:4px 0 14px;max-width:68ch}\
p.lead{font-size:17px;margin-bottom:20px}\
p.warning{color:var(--mark);font-weight:600}\
code{font:13px/1.5 ui-monospace,'DejaVu Sans Mono',monospace}\
pre{margin:8px 0 14px;padding:12px 14px;background:var(--wash);border-radius:6px;\
white-space:pre-wrap;font:13px/1.5 ui-monospace,'DejaVu Sans Mono',monospace}\
figure{margin:14px 0 22px;min-width:0}figure p{font-size:13px}\
svg{width:100%;height:auto;display:block}\
.pair{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:4px 40px}\
.scroll{overflow-x:auto;margin:10px 0 14px}\
table{border-collapse:collapse;font-size:13.5px}\
th,td{padding:5px 0 5px 15px;text-align:right;border-bottom:1px solid var(--line);\
vertical-align:top;white-space:nowrap;overflow-wrap:normal}\
th:first-child,td:first-child{text-align:left;padding-left:0}\
thead th{color:var(--soft);font-weight:500}tbody th{font-weight:500}\
table.words th,table.words td{text-align:left;white-space:normal;min-width:7em}\
table.words{width:100%}\
td.good{color:var(--accent);font-weight:600}td.quiet,th.quiet{color:var(--soft)}\
details{margin:8px 0 16px}\
summary{cursor:pointer;color:var(--accent)}\
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:4px 22px;margin:10px 0 18px}\
dt{color:var(--soft)}dd{margin:0}\
.tiles{display:flex;flex-wrap:wrap;gap:10px 44px;margin:22px 0 6px}\
.tiles div{min-width:0}\
.tiles b{display:block;font-size:26px;line-height:1.2;font-weight:650}\
.tiles div:first-child b{color:var(--accent)}\
.tiles span{color:var(--soft);font-size:14px}\
.on-phone{display:none}\
@media(max-width:900px){.pair{grid-template-columns:minmax(0,1fr)}}\
@media(max-width:560px){body{padding:24px 16px 48px}h1{font-size:23px}h2{margin-top:44px}\
p.lead{font-size:15px}.on-screen{display:none}.on-phone{display:block}\
dl{grid-template-columns:minmax(0,1fr);gap:0}dd{margin-bottom:8px}\
th,td{padding-left:12px}}\
@media print{details>*{display:block}}";

/// A section of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its heading, as text; no heading if empty.
    pub title: String,
    /// Its body, as markup.
    pub body: String,
}

impl Section {
    /// A section; one without a body is not shown.
    pub fn new(title: &str, body: String) -> Section {
        Section {
            title: title.into(),
            body,
        }
    }
}

/// The page: `title` is text, `lead` markup below it, `style` what its sections need besides.
pub fn page(title: &str, lead: &str, style: &str, sections: &[Section]) -> String {
    let title = escape(title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{}{LAYOUT}{style}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n{lead}",
        style::of_page()
    );
    for section in sections.iter().filter(|section| !section.body.is_empty()) {
        if !section.title.is_empty() {
            page += &format!("<h2>{}</h2>\n", escape(&section.title));
        }
        page += &section.body;
    }
    page + "</body>\n</html>\n"
}

#[cfg(test)]
mod tests;
