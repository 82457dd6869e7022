//! Texts of receipts in each language of the checkout.

use crate::domain::language::Language;

pub(super) struct ReceiptWords {
    /// Subject, with `{shop}` and `{amount}`.
    pub(super) subject: &'static str,
    pub(super) decimal: &'static str,
    /// Text between a name and its value, with the space after it where the language has one.
    pub(super) colon: &'static str,
    pub(super) thanks: &'static str,
    pub(super) shop: &'static str,
    pub(super) amount: &'static str,
    pub(super) date: &'static str,
    pub(super) order: &'static str,
    pub(super) description: &'static str,
    pub(super) invoice: &'static str,
    /// Line above the link to the receipt.
    pub(super) page: &'static str,
    pub(super) footer: &'static str,
}

impl ReceiptWords {
    pub(super) const fn for_language(language: Language) -> &'static ReceiptWords {
        match language {
            Language::English => &ENGLISH,
            Language::German => &GERMAN,
            Language::French => &FRENCH,
            Language::Spanish => &SPANISH,
            Language::Italian => &ITALIAN,
            Language::Portuguese => &PORTUGUESE,
            Language::Dutch => &DUTCH,
            Language::Polish => &POLISH,
            Language::Turkish => &TURKISH,
            Language::Japanese => &JAPANESE,
            Language::Chinese => &CHINESE,
            Language::Arabic => &ARABIC,
        }
    }
}

const ENGLISH: ReceiptWords = ReceiptWords {
    subject: "Receipt from {shop}: {amount}",
    decimal: ".",
    colon: ": ",
    thanks: "Your payment has arrived. Thank you.",
    shop: "Shop",
    amount: "Amount",
    date: "Date",
    order: "Order",
    description: "Description",
    invoice: "Invoice number",
    page: "Your receipt to view or print:",
    footer: "This message was sent automatically. If you have a question about your order, ask the shop.",
};

const GERMAN: ReceiptWords = ReceiptWords {
    subject: "Beleg von {shop}: {amount}",
    decimal: ",",
    colon: ": ",
    thanks: "Ihre Zahlung ist eingegangen. Vielen Dank.",
    shop: "Shop",
    amount: "Betrag",
    date: "Datum",
    order: "Bestellung",
    description: "Beschreibung",
    invoice: "Rechnungsnummer",
    page: "Ihr Beleg zum Ansehen oder Drucken:",
    footer: "Diese Nachricht wurde automatisch verschickt. Bei Fragen zu Ihrer Bestellung wenden Sie sich an den Shop.",
};

const FRENCH: ReceiptWords = ReceiptWords {
    subject: "Reçu de {shop} : {amount}",
    decimal: ",",
    colon: " : ",
    thanks: "Votre paiement est arrivé. Merci.",
    shop: "Boutique",
    amount: "Montant",
    date: "Date",
    order: "Commande",
    description: "Description",
    invoice: "Numéro de facture",
    page: "Votre reçu, à consulter ou à imprimer :",
    footer: "Ce message a été envoyé automatiquement. Pour toute question sur votre commande, adressez-vous à la boutique.",
};

const SPANISH: ReceiptWords = ReceiptWords {
    subject: "Recibo de {shop}: {amount}",
    decimal: ",",
    colon: ": ",
    thanks: "Su pago ha llegado. Gracias.",
    shop: "Tienda",
    amount: "Importe",
    date: "Fecha",
    order: "Pedido",
    description: "Descripción",
    invoice: "Número de factura",
    page: "Su recibo, para ver o imprimir:",
    footer: "Este mensaje se ha enviado automáticamente. Si tiene preguntas sobre su pedido, diríjase a la tienda.",
};

const ITALIAN: ReceiptWords = ReceiptWords {
    subject: "Ricevuta di {shop}: {amount}",
    decimal: ",",
    colon: ": ",
    thanks: "Il pagamento è arrivato. Grazie.",
    shop: "Negozio",
    amount: "Importo",
    date: "Data",
    order: "Ordine",
    description: "Descrizione",
    invoice: "Numero di fattura",
    page: "La tua ricevuta, da visualizzare o stampare:",
    footer: "Questo messaggio è stato inviato automaticamente. Per domande sull’ordine rivolgiti al negozio.",
};

const PORTUGUESE: ReceiptWords = ReceiptWords {
    subject: "Recibo de {shop}: {amount}",
    decimal: ",",
    colon: ": ",
    thanks: "O seu pagamento chegou. Obrigado.",
    shop: "Loja",
    amount: "Valor",
    date: "Data",
    order: "Encomenda",
    description: "Descrição",
    invoice: "Número da fatura",
    page: "O seu recibo, para ver ou imprimir:",
    footer: "Esta mensagem foi enviada automaticamente. Se tiver dúvidas sobre a sua encomenda, contacte a loja.",
};

const DUTCH: ReceiptWords = ReceiptWords {
    subject: "Betaalbewijs van {shop}: {amount}",
    decimal: ",",
    colon: ": ",
    thanks: "Uw betaling is ontvangen. Dank u wel.",
    shop: "Winkel",
    amount: "Bedrag",
    date: "Datum",
    order: "Bestelling",
    description: "Omschrijving",
    invoice: "Factuurnummer",
    page: "Uw betaalbewijs om te bekijken of af te drukken:",
    footer: "Dit bericht is automatisch verstuurd. Hebt u een vraag over uw bestelling? Neem dan contact op met de winkel.",
};

const POLISH: ReceiptWords = ReceiptWords {
    subject: "Potwierdzenie płatności od {shop}: {amount}",
    decimal: ",",
    colon: ": ",
    thanks: "Płatność dotarła. Dziękujemy.",
    shop: "Sklep",
    amount: "Kwota",
    date: "Data",
    order: "Zamówienie",
    description: "Opis",
    invoice: "Numer faktury",
    page: "Potwierdzenie do wyświetlenia lub wydruku:",
    footer: "Ta wiadomość została wysłana automatycznie. W razie pytań o zamówienie skontaktuj się ze sklepem.",
};

const TURKISH: ReceiptWords = ReceiptWords {
    subject: "{shop} makbuzu: {amount}",
    decimal: ",",
    colon: ": ",
    thanks: "Ödemeniz alındı. Teşekkür ederiz.",
    shop: "Mağaza",
    amount: "Tutar",
    date: "Tarih",
    order: "Sipariş",
    description: "Açıklama",
    invoice: "Fatura numarası",
    page: "Görüntülemek veya yazdırmak için makbuzunuz:",
    footer: "Bu ileti otomatik olarak gönderildi. Siparişinizle ilgili sorularınız için mağazaya başvurun.",
};

const JAPANESE: ReceiptWords = ReceiptWords {
    subject: "{shop} からの領収書：{amount}",
    decimal: ".",
    colon: "：",
    thanks: "お支払いを確認しました。ありがとうございます。",
    shop: "ショップ",
    amount: "金額",
    date: "日時",
    order: "注文",
    description: "内容",
    invoice: "請求書番号",
    page: "領収書の表示と印刷はこちら：",
    footer: "このメッセージは自動的に送信されました。ご注文についてのご質問は、ショップにお問い合わせください。",
};

const CHINESE: ReceiptWords = ReceiptWords {
    subject: "{shop} 的收据：{amount}",
    decimal: ".",
    colon: "：",
    thanks: "您的付款已到账，谢谢。",
    shop: "商店",
    amount: "金额",
    date: "日期",
    order: "订单",
    description: "说明",
    invoice: "账单编号",
    page: "查看或打印您的收据：",
    footer: "此邮件由系统自动发送。如对订单有疑问，请联系商店。",
};

const ARABIC: ReceiptWords = ReceiptWords {
    subject: "إيصال من {shop}: {amount}",
    decimal: ".",
    colon: ": ",
    thanks: "وصلت دفعتك. شكرًا لك.",
    shop: "المتجر",
    amount: "المبلغ",
    date: "التاريخ",
    order: "الطلب",
    description: "الوصف",
    invoice: "رقم الفاتورة",
    page: "إيصالك للعرض أو الطباعة:",
    footer: "أُرسلت هذه الرسالة تلقائيًا. إذا كان لديك سؤال عن طلبك فاسأل المتجر.",
};
