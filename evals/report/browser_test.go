package report

import _ "github.com/chromedp/chromedp"
