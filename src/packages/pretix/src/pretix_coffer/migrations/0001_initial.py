"""The table of the invoices at Coffer."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [("pretixbase", "0311_fix_unshredded_invoices")]

    operations = [
        migrations.CreateModel(
            name="CofferInvoice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("attempt", models.PositiveIntegerField()),
                ("invoice_id", models.CharField(max_length=64, unique=True)),
                ("seen", models.JSONField(default=dict)),
                ("is_booked", models.BooleanField(default=False)),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="coffer_invoices",
                        to="pretixbase.order",
                    ),
                ),
                (
                    "payment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="coffer_invoices",
                        to="pretixbase.orderpayment",
                    ),
                ),
            ],
            options={"ordering": ("order", "attempt"), "unique_together": {("order", "attempt")}},
        ),
    ]
