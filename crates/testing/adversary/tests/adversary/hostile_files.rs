//! Uploads in the administration that declare too much, expand to too much, or arrive too slowly.

use std::io::{Cursor, Write as _};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use zip::write::SimpleFileOptions;

use crate::support::{Running, WAIT_MAX, peak_memory_mib};

/// Memory limit of the server. An idle server uses about 120 MiB in a build without optimisation.
const MEMORY_MIB_MAX: u64 = 400;
/// Number of half-sent uploads, and the bytes of each half.
const HALF_SENT: usize = 40;
const HALF_BYTES: usize = 24 << 20;
/// Number of image forms of which only the beginning is sent, and its bytes: more than the buffers of a connection hold.
const DRIPPING: usize = 16;
const DRIPPED_BYTES: usize = 2 << 20;
const SEND_BUFFER_BYTES: u32 = 64 << 10;
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
/// A picture of one pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\xdacd\xf8\xcfP\x0f\0\x03\
\x86\x01\x80Z4}k\0\0\0\0IEND\xaeB`\x82";

/// An operator who is signed in to the administration, and a LIVE auction with two lots.
struct Operator {
    running: Running,
    cookie: String,
    auction: String,
    items: Vec<String>,
}

impl Operator {
    async fn new() -> Self {
        let running = Running::new(&[]).await;
        let user = ["user", "create", "ann@example.com", "--role", "operator", "--json"];
        let password = running.launch.run_command(&user).unwrap()["password"].as_str().unwrap().to_owned();
        let (api, key) = (running.platform(), running.launch.create_staff_key("files").unwrap());
        let customer = api.make("post", "/api/v1/customers", &key, &json!({ "name": "House" })).await.text("uuid");
        let auctioneer = json!({ "customer": customer, "name": "House" });
        let auctioneer = api.make("post", "/api/v1/auctioneers", &key, &auctioneer).await.text("uuid");
        let auction = json!({
            "auctioneer": auctioneer, "kind": "timed", "title": "Prints", "currency": "GBP", "status": "LIVE",
            "timeZone": "Europe/London", "startsAt": "2000-01-01T10:00:00.000Z", "endsAt": "2099-01-01T10:00:00.000Z",
            "items": [{ "lotNumber": "1", "title": "A jug" }, { "lotNumber": "2", "title": "A bowl" }],
        });
        let auction = api.make("post", "/api/v1/auctions", &key, &auction).await.text("uuid");
        let listed = api.plain("get", &format!("/api/v1/auctions/{auction}/items"), &key, &json!(null)).await.body;
        let items = listed["data"].as_array().unwrap().iter().map(|item| item["uuid"].as_str().unwrap().to_owned());
        let mut operator = Operator { items: items.collect(), running, cookie: String::new(), auction };
        let form = format!("email=ann%40example.com&password={password}");
        let answer = operator.send("/sign-in", "application/x-www-form-urlencoded", form.as_bytes()).await;
        let (_, cookie) = answer.split_once("set-cookie: lotwire_admin=").unwrap_or_else(|| panic!("{answer}"));
        operator.cookie = format!("lotwire_admin={}", cookie.split([';', '\r']).next().unwrap());
        operator
    }

    /// The head of a POST request to a page, and a connection that it was sent on.
    async fn begin(&self, path: &str, content_type: &str, length: usize) -> TcpStream {
        let address = self.running.launch.platform;
        let head = format!(
            "POST /admin{path} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nSec-Fetch-Site: same-origin\r\n\
             Cookie: {}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n",
            self.cookie
        );
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_send_buffer_size(SEND_BUFFER_BYTES).unwrap();
        let mut stream = socket.connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    /// Sends a body to a page; returns the answer.
    async fn send(&self, path: &str, content_type: &str, body: &[u8]) -> String {
        let mut stream = self.begin(path, content_type, body.len()).await;
        let mut answer = Vec::new();
        let exchange = async {
            let _ = stream.write_all(body).await;
            let _ = stream.read_to_end(&mut answer).await;
        };
        tokio::time::timeout(WAIT_MAX, exchange).await.expect("the server answers");
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn import(&self, file: &[u8]) -> String {
        let body = [part("file", "lots.xlsx").as_bytes(), file, b"\r\n--edge--\r\n"].concat();
        self.send(&self.import_path(), "multipart/form-data; boundary=edge", &body).await
    }

    fn import_path(&self) -> String {
        format!("/auctions/{}/lots/import", self.auction)
    }

    /// Begins a form whose file has this beginning.
    async fn half_send(&self, path: &str, field: &str, beginning: &[u8]) -> TcpStream {
        let mut stream = self.begin(path, "multipart/form-data; boundary=edge", 64 << 20).await;
        let _ = stream.write_all(part(field, "1.jpg").as_bytes()).await;
        let _ = stream.write_all(beginning).await;
        stream
    }

    fn memory_mib(&self) -> u64 {
        peak_memory_mib(self.running.server.id())
    }
}

fn part(field: &str, name: &str) -> String {
    format!("--edge\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\r\n")
}

/// A workbook of one sheet with these rows and this part of shared texts.
fn workbook(rows: &str, strings: &str) -> Vec<u8> {
    let link = |kind: &str, target: &str| {
        format!("<Relationships><Relationship Id=\"r1\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/></Relationships>")
    };
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [
        ("_rels/.rels", link("officeDocument", "xl/workbook.xml")),
        ("xl/_rels/workbook.xml.rels", link("worksheet", "worksheets/sheet1.xml")),
        ("xl/workbook.xml", "<workbook><sheets><sheet name=\"Lots\" r:id=\"r1\"/></sheets></workbook>".to_owned()),
        ("xl/sharedStrings.xml", strings.to_owned()),
        ("xl/worksheets/sheet1.xml", format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")),
    ] {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[tokio::test(flavor = "multi_thread")]
async fn workbooks_that_declare_or_expand_to_too_much_are_refused_without_memory() {
    let operator = Operator::new().await;
    let repeated = format!("<row r=\"1\">{}</row>", "<c t=\"s\"><v>0</v></c>".repeat(480));
    let files = [
        workbook(&repeated, "<sst uniqueCount=\"10000000000000\"><si><t>Lot</t></si></sst>"),
        workbook(&repeated, &format!("<sst><si><t>{}</t></si></sst>", "x".repeat(5_000_000))),
        workbook(&repeated, &format!("<sst><si><t>{}</t></si></sst>", "x".repeat(30_000))),
        workbook(&"<a>".repeat(2_000_000), "<sst/>"),
        workbook(&format!("<row {}=\"\"/>", "x".repeat(50_000_000)), "<sst/>"),
        [&b"PK\x03\x04"[..], &b"PK\x01\x02".repeat(1 << 20)].concat(),
    ];
    for (number, file) in files.iter().enumerate() {
        let answer = operator.import(file).await;
        // The first workbook is read as a row of a catalogue, which the next page refuses.
        let expected = if number == 0 { "HTTP/1.1 303" } else { "HTTP/1.1 422" };
        assert!(answer.starts_with(expected), "file {number}: {answer}");
    }
    let memory = operator.memory_mib();
    println!("hostile_files: {} workbooks, peak of {memory} MiB", files.len());
    assert!(memory < MEMORY_MIB_MAX, "{memory} MiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn half_sent_catalogues_use_only_the_memory_of_their_last_parts() {
    let operator = Operator::new().await;
    let path = operator.import_path();
    let beginning = b"1,A lot of some length\n".repeat(HALF_BYTES / 23);
    let mut waiting = Vec::new();
    for _ in 0..HALF_SENT {
        let sending = operator.half_send(&path, "file", &beginning);
        waiting.push(tokio::time::timeout(WAIT_MAX, sending).await.expect("the server reads or refuses"));
    }
    // When the server answers a later upload, it has received or refused all earlier ones.
    assert!(operator.import(b"lot_number,title\n").await.starts_with("HTTP/1.1 "));
    let memory = operator.memory_mib();
    println!("hostile_files: {HALF_SENT} half-sent uploads of {} MiB, peak of {memory} MiB", HALF_BYTES >> 20);
    assert!(memory < MEMORY_MIB_MAX, "{memory} MiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_image_uploads_do_not_delay_other_images() {
    let operator = Operator::new().await;
    let path = format!("/auctions/{}/lots/{}/images", operator.auction, operator.items[1]);
    let beginning = vec![0xff; DRIPPED_BYTES];
    let mut dripping = Vec::new();
    for _ in 0..DRIPPING {
        let sending = operator.half_send(&path, "files", &beginning);
        dripping.push(tokio::time::timeout(WAIT_MAX, sending).await.expect("the server reads each"));
    }
    let one = format!("/auctions/{}/images/one?item={}&name=1.png", operator.auction, operator.items[0]);
    let answer = operator.send(&one, "application/octet-stream", PNG).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("Added"), "{answer}");
    // The server still waits for the slow images.
    for stream in &mut dripping {
        let mut byte = [0; 1];
        let waits = tokio::time::timeout(std::time::Duration::ZERO, stream.read(&mut byte)).await;
        assert!(waits.is_err(), "the server answered an unfinished upload");
    }
}
