//! Pages in a real browser: not blank, light and dark, nothing wider than the screen.
//!
//! The tests are marked as ignored, because not every machine has Chromium; `scripts/browser.sh`,
//! which `make test` calls, runs them where there is one and says so where there is none.

use std::fs;
use std::path::Path;
use std::process::Command;

use esker_bench::report::json;
use esker_bench::report::record::{Record, Verdict};

use crate::reports::{report, run};
use crate::tool::Tool;

/// What shows a page: the program named in ESKER_CHROMIUM.
fn browser(tool: &Tool, words: &[String]) -> Vec<u8> {
    let program = std::env::var_os("ESKER_CHROMIUM");
    let program = program.expect("ESKER_CHROMIUM names the browser: use scripts/browser.sh");
    let profile = tool.path("profile");
    let output = Command::new(program)
        // The page is our own and opens nothing: no sandbox is needed, and root has none.
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
        ])
        .args([
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--timeout=60000",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(words)
        .output()
        .expect("the browser starts");
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

/// The page of a record with everything in it, in `full.html`.
fn page(tool: &Tool) {
    run(tool);
    let mut record = json::read(&tool.path("run.json")).expect("a record");
    enrich(&mut record);
    json::write(&tool.path("full.json"), &record).expect("a record");
    let ran = report(tool, "{}/full.json -o {}/full.html");
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// Rivals, more sizes, a verdict, and names that no table likes.
fn enrich(record: &mut Record) {
    let ours = record.measurements.clone();
    for (index, one) in ours.iter().enumerate() {
        for name in ["Anvil", "Bellows"] {
            let mut theirs = one.clone();
            theirs.engine = name.into();
            theirs.ops_per_s *= 0.4 + index as f64;
            record.measurements.push(theirs);
        }
        let mut larger = one.clone();
        larger.ops_per_s /= 3.0;
        larger.workload = vec![("keys".into(), "50000000".into())];
        record.measurements.push(larger);
        let mut longer = one.clone();
        longer.name = "a-workload-with-a-name-longer-than-any-telephone-is-wide-".repeat(2);
        record.measurements.push(longer);
    }
    record.command = vec!["--an-option-without-any-place-to-break=".repeat(20)];
    record.verdicts = vec![Verdict {
        line: "fillrandom".into(),
        asked: "3 × best rival (Anvil)".into(),
        measured: None,
        unit: "×".into(),
        is_met: None,
    }];
}

/// Colours of a picture, each with how many of its pixels have it.
fn colours(path: &Path) -> std::collections::BTreeMap<[u8; 3], usize> {
    let file = std::io::BufReader::new(fs::File::open(path).expect("a picture"));
    let mut decoder = png::Decoder::new(file);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a picture of some size")];
    let frame = reader.next_frame(&mut pixels).expect("a frame");
    let mut colours = std::collections::BTreeMap::new();
    let channels = frame.color_type.samples();
    for pixel in pixels[..frame.buffer_size()].chunks(channels) {
        *colours.entry([pixel[0], pixel[1], pixel[2]]).or_default() += 1;
    }
    colours
}

fn screenshot(tool: &Tool, name: &str, size: &str, dark: bool) -> usize {
    let picture = tool.path(name);
    let mut words = vec![
        format!("--screenshot={}", picture.display()),
        format!("--window-size={size}"),
        format!("file://{}", tool.path("full.html").display()),
    ];
    if dark {
        words.insert(0, "--force-dark-mode".into());
        words.insert(0, "--blink-settings=preferredColorScheme=0".into());
    }
    browser(tool, &words);
    let colours = colours(&picture);
    let (paper, accent) = match dark {
        true => ([0x14, 0x18, 0x1f], [0x5d, 0xb4, 0xec]),
        false => ([0xff, 0xff, 0xff], [0x0f, 0x6f, 0xae]),
    };
    let all: usize = colours.values().sum();
    let of_paper = colours.get(&paper).copied().unwrap_or(0);
    assert!(of_paper * 2 > all, "{name}: the paper has another colour");
    assert!(of_paper < all, "{name}: the page is blank");
    // Bars and lines are drawn in the accent colour.
    colours.get(&accent).copied().unwrap_or(0)
}

#[test]
#[ignore = "browser: needs Chromium; scripts/browser.sh runs it"]
fn browser_shows_the_page_in_light_and_dark_and_on_a_phone() {
    // Three pictures, none blank, each on its own paper and with bars in the accent colour.
    let tool = Tool::new();
    page(&tool);
    for (name, size, dark) in [
        ("light.png", "1200,1600", false),
        ("dark.png", "1200,1600", true),
        ("phone.png", "360,1600", false),
    ] {
        let accented = screenshot(&tool, name, size, dark);
        assert!(accented > 300, "{name}: {accented} pixels of a bar");
    }
}

#[test]
#[ignore = "browser: needs Chromium; scripts/browser.sh runs it"]
fn browser_needs_no_scrolling_to_the_side() {
    // The page in frames of several widths, since no window is narrower than 500 pixels; a probe
    // writes down how wide each frame is, how wide its page is, how far its elements reach with
    // everything unfolded, and how many there are. Tables have room too. One number is written
    // larger than anything else.
    const PROBE: &str = "<script>addEventListener('load', () => {
        const widths = [...document.querySelectorAll('iframe')].map(frame => {
            const page = frame.contentDocument;
            page.querySelectorAll('details').forEach(it => it.open = true);
            const all = [...page.body.querySelectorAll('*')];
            const reach = all
                .filter(it => !it.closest('svg') || it.matches('svg'))
                .map(it => it.getBoundingClientRect().right);
            const size = it => parseFloat(frame.contentWindow.getComputedStyle(it).fontSize);
            const most = Math.max(...all.map(size));
            const largest = all.filter(it => size(it) == most);
            return [frame.contentWindow.innerWidth, page.documentElement.scrollWidth,
                Math.floor(Math.max(...reach)), all.length, largest.length,
                largest.filter(it => it.matches('.headline b')).length].join(' ');
        });
        document.body.setAttribute('data-probe', widths.join(','));
        })</script>";
    const WIDTHS: [u32; 5] = [360, 480, 700, 1000, 1600];
    let tool = Tool::new();
    page(&tool);
    let html = fs::read_to_string(tool.path("full.html")).expect("a page");
    let inner = html.replace('&', "&amp;").replace('"', "&quot;");
    let frames = WIDTHS.map(|width| {
        format!(
            "<iframe srcdoc=\"{inner}\" style=\"width:{width}px;height:900px;border:0\"></iframe>"
        )
    });
    let outer = format!("<!doctype html><body>{}{PROBE}</body>", frames.concat());
    fs::write(tool.path("probed.html"), outer).expect("a page");
    let words = [
        "--dump-dom".to_owned(),
        format!("file://{}", tool.path("probed.html").display()),
    ];
    let dom = String::from_utf8(browser(&tool, &words)).expect("text");
    let probe = dom.split("data-probe=\"").nth(1).expect("the probe ran");
    let probe = probe.split('"').next().expect("a value");
    let rows: Vec<&str> = probe.split(',').collect();
    assert_eq!(rows.len(), WIDTHS.len(), "{probe}");
    for (width, row) in WIDTHS.into_iter().zip(rows) {
        let numbers: Vec<u32> = row
            .split(' ')
            .map(|it| it.parse().expect("a number"))
            .collect();
        assert_eq!(numbers[0], width, "the frame has another width");
        assert!(
            numbers[1] <= width && numbers[2] <= width,
            "at {width}: {row}"
        );
        assert!(
            numbers[3] > 200,
            "at {width} the page is nearly empty: {row}"
        );
        assert_eq!(numbers[4..], [1, 1], "at {width}: not one headline: {row}");
    }
}
