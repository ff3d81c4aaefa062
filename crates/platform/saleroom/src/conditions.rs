//! The conditions under which a sale is held.

use askama::Template;
use axum::response::Response;
use kit_design::frame::{Frame, render_page};

use crate::house::{House, HouseFrame};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "conditions.html")]
struct ConditionsPage {
    frame: Frame,
    around: HouseFrame,
    sale_title: String,
    path: String,
    number: u32,
    lines: Vec<String>,
}

pub(crate) async fn page(house: House<1>) -> Result<Response, PageError> {
    let (platform, [auction]) = (house.platform(), house.ids);
    let sale = platform.saleroom_sale(&house.saleroom, auction).await?;
    let conditions = platform.saleroom_conditions(&house.saleroom, &sale).await?;
    let sale_title = sale.auction.shown_title().to_owned();
    let description = house.words.with(
        "conditions-description",
        [("sale", sale_title.as_str().into()), ("number", conditions.number.to_string().into())],
    );
    let around = house.frame(house.words.of("conditions"), &format!("/sales/{auction}/conditions"), description);
    render_page(&ConditionsPage {
        frame: around.frame.clone(),
        path: format!("{}/sales/{auction}", around.path),
        sale_title,
        number: conditions.number,
        lines: conditions.text.lines().map(str::to_owned).collect(),
        around,
    })
}
