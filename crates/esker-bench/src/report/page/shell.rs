//! A whole page around its sections: head, style, and nothing from anywhere else.

use crate::report::chart::paint::escape;
use crate::report::chart::style;

/// Layout and letters of every page: a title, one number that is larger than anything else, and
/// sections as wide as the page. Phones are 360 pixels wide and more; two drawings stand side by
/// side where both have room, and tables with many columns become lists where they have none.
const LAYOUT: &str = "\
*{box-sizing:border-box}\
body{margin:0 auto;padding:44px 24px 80px;max-width:1008px;background:var(--paper);\
color:var(--ink);font:15px/1.55 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;\
font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%;overflow-wrap:anywhere}\
h1{font-size:24px;line-height:1.25;letter-spacing:-.01em;margin:0 0 4px;font-weight:650}\
h2{font-size:18px;margin:52px 0 6px;padding-top:22px;border-top:1px solid var(--line);\
font-weight:650}\
h3{font-size:14px;margin:24px 0 4px;font-weight:600}\
p{color:var(--soft);margin:4px 0 14px;max-width:76ch}\
p.lead{font-size:14px;margin:0;max-width:none}\
p.warning{color:var(--mark);font-weight:600;margin:14px 0 0}\
pre{margin:8px 0 14px;padding:12px 14px;background:var(--wash);border-radius:6px;\
white-space:pre-wrap;font:13px/1.5 ui-monospace,'DejaVu Sans Mono',monospace}\
.headline{display:flex;flex-wrap:wrap;align-items:baseline;gap:4px 18px;margin:34px 0 0;\
max-width:none;color:var(--ink);font-size:17px;line-height:1.4}\
.headline b{font-size:60px;line-height:1;letter-spacing:-.03em;font-weight:650;\
color:var(--accent);white-space:nowrap}\
.headline span{flex:1 1 16em;max-width:36em}\
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:18px 32px;\
margin:26px 0 0}\
.facts b{display:block;font-size:20px;line-height:1.3;font-weight:600}\
.facts span{display:block;color:var(--soft);font-size:13.5px;line-height:1.45}\
figure{margin:14px 0 18px;min-width:0}\
svg{width:100%;height:auto;display:block}\
.pair{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:4px 40px}\
.scroll{overflow-x:auto;margin:10px 0 16px}\
table{border-collapse:collapse;font-size:13.5px;width:100%}\
th,td{padding:5px 0 5px 14px;text-align:right;border-bottom:1px solid var(--line);\
vertical-align:top;white-space:nowrap;overflow-wrap:normal}\
th:first-child{text-align:left;padding-left:0;white-space:normal;overflow-wrap:anywhere}\
thead th{color:var(--soft);font-weight:500;vertical-align:bottom}tbody th{font-weight:500}\
td small{color:var(--soft);font-size:12px}\
table.words th,table.words td{text-align:left;white-space:normal;overflow-wrap:anywhere}\
td.good{color:var(--accent);font-weight:600}td.quiet{color:var(--soft)}\
details{margin:8px 0 14px}\
summary{cursor:pointer;color:var(--accent);font-size:14px}\
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(210px,1fr));gap:12px 32px;\
margin:12px 0 18px}\
dt{color:var(--soft);font-size:13px}dd{margin:0}\
.on-phone{display:none}\
@media(max-width:900px){.pair{grid-template-columns:minmax(0,1fr)}}\
@media(max-width:620px){body{padding:24px 16px 48px}h1{font-size:21px}\
h2{margin-top:36px;padding-top:18px}.headline{margin-top:24px;font-size:16px}\
.headline b{font-size:46px}.facts{grid-template-columns:repeat(2,minmax(0,1fr));gap:16px 20px}\
.on-screen{display:none}.on-phone{display:block}dl{grid-template-columns:minmax(0,1fr)}\
th,td{padding-left:10px}\
.many,.many tbody,.many td,.many th{display:block;width:auto}.many thead{display:none}\
.many tr{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:4px 12px;\
padding:8px 0 10px;border-bottom:1px solid var(--line)}\
.many th,.many td{padding:0;border:0;text-align:left;white-space:normal}\
.many th{grid-column:1/-1}.many td:empty,.numbers.many td.quiet{display:none}\
.many td:before{content:attr(data-head);display:block;color:var(--soft);font-size:12px;\
font-weight:400}\
.many.words tr{grid-template-columns:minmax(0,1fr)}\
.many.words td:not(:empty){display:grid;grid-template-columns:84px minmax(0,1fr)}}\
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
